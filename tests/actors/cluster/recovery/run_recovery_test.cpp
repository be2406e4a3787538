#include "actors/cluster/recovery/run_recovery.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace graphmill::test::recovering_runs {

namespace {

using namespace std::chrono_literals;

using clock = run_recovery::clock;

const clock::time_point start{};

error loss(const std::string& daemon = "b") {
  return fail(ec::unavailable, "daemon \"{}\" is lost", daemon);
}

kept_offer kept(const std::string& daemon, std::int32_t epoch,
                std::int64_t step, const std::string& digest = "d") {
  kept_offer out;
  out.daemon = daemon;
  out.at.epoch = epoch;
  out.at.step = step;
  out.digest = digest;
  return out;
}

} // namespace

CATCH_TEST_CASE("a run waits for its next attempt, and then no longer",
                "[recovery]") {
  run_recovery run{{60, 3}};
  CATCH_CHECK(run.is_wanted());
  CATCH_CHECK_FALSE(run.waits());
  CATCH_CHECK_FALSE(run.is_over(start + 1h));
  CATCH_CHECK_FALSE(run.broken(loss(), true, start));
  CATCH_CHECK(run.waits());
  CATCH_CHECK_FALSE(run.is_stuck());
  CATCH_CHECK_FALSE(run.is_over(start + 59s));
  CATCH_CHECK(run.is_over(start + 60s));
  run.begin();
  CATCH_CHECK_FALSE(run.waits());
  CATCH_CHECK_FALSE(run.is_over(start + 1h));
  // The next loss is waited for anew.
  CATCH_CHECK_FALSE(run.broken(loss(), true, start + 1h));
  CATCH_CHECK_FALSE(run.is_over(start + 1h + 59s));
  CATCH_CHECK(run.is_over(start + 1h + 60s));
}

CATCH_TEST_CASE("a run that a coordinator has left waits as others do",
                "[recovery]") {
  run_recovery run{{60, 1}};
  run.left(fail(ec::unavailable, "it was started anew"), start);
  CATCH_CHECK(run.waits());
  CATCH_CHECK_FALSE(run.is_stuck());
  CATCH_CHECK_FALSE(run.is_over(start + 59s));
  CATCH_CHECK(run.is_over(start + 60s));
  CATCH_CHECK(run.gave_up(loss()).message.starts_with("it was started anew; "));
  run.begin();
  CATCH_CHECK_FALSE(run.waits());
}

CATCH_TEST_CASE("attempts that train nothing are counted in a row",
                "[recovery]") {
  run_recovery run{{60, 3}};
  CATCH_CHECK_FALSE(run.broken(loss(), false, start));
  CATCH_CHECK(run.is_stuck());
  CATCH_CHECK_FALSE(run.broken(loss(), false, start));
  CATCH_CHECK_FALSE(run.broken(loss(), true, start));
  CATCH_CHECK_FALSE(run.is_stuck());
  CATCH_CHECK_FALSE(run.broken(loss(), false, start));
  CATCH_CHECK_FALSE(run.broken(loss("c"), false, start));
  run.begin();
  const auto over = run.broken(loss("e"), false, start);
  CATCH_REQUIRE(over);
  CATCH_CHECK(over->code == ec::unavailable);
  CATCH_CHECK(over->message
              == "daemon \"e\" is lost; 3 attempts in a row have trained "
                 "nothing, and `recovery.attempts` allows no more");
  CATCH_CHECK_FALSE(run.waits());
  run_recovery only{{60, 1}};
  CATCH_CHECK(only.broken(loss(), false, start)->message
              == "daemon \"b\" is lost; 1 attempt in a row has trained "
                 "nothing, and `recovery.attempts` allows no more");
}

CATCH_TEST_CASE("a run that waits says for what, and until when",
                "[recovery]") {
  CATCH_CHECK_FALSE(run_recovery{}.is_wanted());
  run_recovery run{{90, 3}};
  run.broken(loss(), true, start);
  const auto missing = fail(ec::unavailable, "no daemon serves part 2 of 3");
  const std::chrono::system_clock::time_point wall{14h + 3min + 20s};
  CATCH_CHECK(run.says(missing, start, wall)
              == "has ended an attempt: daemon \"b\" is lost; it waits until "
                 "14:04:50 UTC to go on: no daemon serves part 2 of 3");
  CATCH_CHECK(run.left_at(start + 30s) == 60s);
  // Said later, it is the same sentence.
  CATCH_CHECK(run.says(missing, start + 30s, wall + 30s)
              == run.says(missing, start, wall));
  const auto over = run.gave_up(missing);
  CATCH_CHECK(over.code == ec::unavailable);
  CATCH_CHECK(over.message
              == "daemon \"b\" is lost; nobody has taken its place within 90 "
                 "seconds (`recovery.wait`): no daemon serves part 2 of 3");
}

CATCH_TEST_CASE("the furthest of what daemons have kept is taken",
                "[recovery]") {
  struct row {
    std::vector<kept_offer> offers;
    std::optional<std::size_t> best;
  };
  const std::vector<row> table{
    {{}, {}},
    {{kept("a", 0, 0)}, 0},
    {{kept("a", 2, 16), kept("b", 2, 17)}, 1},
    {{kept("a", 2, 17), kept("b", 2, 16, "older")}, 0},
    {{kept("a", 1, 90), kept("b", 2, 0)}, 1},
    {{kept("a", 2, 17), kept("b", 2, 17)}, 0},
    {{kept("a", 1, 3), kept("b", 1, 3), kept("c", 1, 4, "newer")}, 2},
    // What is behind may differ: it is not used.
    {{kept("a", 1, 3, "x"), kept("b", 1, 3, "y"), kept("c", 1, 4)}, 2},
  };
  for (const auto& [offers, best] : table) {
    CATCH_INFO(offers.size() << " offers");
    CATCH_CHECK(value_of(furthest_of(offers)) == best);
  }
  const auto odd =
    error_of(furthest_of({kept("a", 2, 17, "x"), kept("b", 2, 17, "y")}));
  CATCH_CHECK(odd.code == ec::internal);
  CATCH_CHECK(odd.message
              == "daemons \"a\" and \"b\" have kept other weights after the "
                 "same step, with digests x and y");
}

} // namespace graphmill::test::recovering_runs
