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

} // namespace

CATCH_TEST_CASE("a run waits for its next attempt, and then no longer",
                "[recovery]") {
  run_recovery run{{60, 3}};
  CATCH_CHECK(run.is_wanted());
  CATCH_CHECK_FALSE(run.waits());
  CATCH_CHECK_FALSE(run.is_over(start + 1h));
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 1}, start));
  CATCH_CHECK(run.waits());
  CATCH_CHECK(run.pause() == 0s);
  CATCH_CHECK_FALSE(run.is_over(start + 59s));
  CATCH_CHECK(run.is_over(start + 60s));
  run.begin();
  CATCH_CHECK_FALSE(run.waits());
  CATCH_CHECK_FALSE(run.is_over(start + 1h));
  // The next loss is waited for anew.
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 2}, start + 1h));
  CATCH_CHECK_FALSE(run.is_over(start + 1h + 59s));
  CATCH_CHECK(run.is_over(start + 1h + 60s));
}

CATCH_TEST_CASE("time in which nobody could come is no waiting", "[recovery]") {
  run_recovery run{{60, 3}};
  run.put_off(10min); // It does not wait yet.
  CATCH_CHECK_FALSE(run.waits());
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 1}, start));
  run.put_off(10min);
  CATCH_CHECK(run.left_at(start + 10min) == 60s);
  CATCH_CHECK_FALSE(run.is_over(start + 10min + 59s));
  CATCH_CHECK(run.is_over(start + 10min + 60s));
}

CATCH_TEST_CASE("a run that a coordinator has left waits as others do",
                "[recovery]") {
  run_recovery run{{60, 1}};
  run.left(fail(ec::unavailable, "it was started anew"), start);
  CATCH_CHECK(run.waits());
  CATCH_CHECK(run.pause() == 0s);
  CATCH_CHECK_FALSE(run.is_over(start + 59s));
  CATCH_CHECK(run.is_over(start + 60s));
  CATCH_CHECK(run.gave_up(loss()).message.starts_with("it was started anew; "));
  run.begin();
  CATCH_CHECK_FALSE(run.waits());
}

CATCH_TEST_CASE("a run that has paused waits, be there a wait or not",
                "[recovery][sizes]") {
  const auto pause = fail(ec::unavailable, "it pauses");
  run_recovery run{{60, 1}};
  run.paused(pause, {0, 5}, start);
  CATCH_CHECK(run.waits());
  CATCH_CHECK(run.pause() == 0s);
  CATCH_CHECK_FALSE(run.is_over(start + 59s));
  CATCH_CHECK(run.is_over(start + 60s));
  CATCH_CHECK(run.gave_up(loss()).message
              == "it pauses; it could not go on within 60 seconds "
                 "(`recovery.wait`): daemon \"b\" is lost");
  run.begin();
  CATCH_CHECK(run.broken(loss(), {}, start));
  run_recovery none{{0, 1}};
  none.paused(pause, {0, 5}, start);
  CATCH_CHECK(none.waits());
  CATCH_CHECK_FALSE(none.is_over(start));
  CATCH_CHECK(none.is_over(start + 5s));
  CATCH_CHECK(none.gave_up(loss()).message
              == "it pauses; it could not go on within 5 seconds: daemon \"b\" "
                 "is lost");
  none.begin();
  CATCH_CHECK_FALSE(none.waits());
}

CATCH_TEST_CASE("what an attempt has trained before it paused counts",
                "[recovery][sizes]") {
  const auto pause = fail(ec::unavailable, "it pauses");
  run_recovery run{{60, 2}};
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 3}, start));
  CATCH_CHECK_FALSE(run.broken(loss(), {}, start));
  run.begin();
  run.paused(pause, {0, 5}, start); // Else the next would be the second one.
  CATCH_CHECK(run.pause() == 0s);
  CATCH_CHECK_FALSE(run.broken(loss(), {}, start));
  // It has been there before, and one more that has not would be too many.
  CATCH_CHECK(run.broken(loss(), trained_until{0, 5}, start));
  run_recovery back{{60, 2}};
  CATCH_CHECK_FALSE(back.broken(loss(), trained_until{1, 0}, start));
  CATCH_CHECK_FALSE(back.broken(loss(), {}, start));
  back.paused(pause, {0, 5}, start); // Once more to where it had been.
  CATCH_CHECK(back.pause() == 2s);
  CATCH_CHECK(back.broken(loss(), {}, start));
}

CATCH_TEST_CASE("attempts that train nothing new are counted in a row",
                "[recovery]") {
  run_recovery run{{60, 3}};
  CATCH_CHECK_FALSE(run.broken(loss(), {}, start));
  CATCH_CHECK_FALSE(run.broken(loss(), {}, start));
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 2}, start));
  CATCH_CHECK(run.pause() == 0s);
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 2}, start)); // Again.
  CATCH_CHECK_FALSE(run.broken(loss(), {}, start));
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{1, 0}, start));
  CATCH_CHECK(run.pause() == 0s);
  CATCH_CHECK_FALSE(run.broken(loss(), trained_until{0, 9}, start));
  CATCH_CHECK_FALSE(run.broken(loss("c"), trained_until{1, 0}, start));
  run.begin();
  const auto over = run.broken(loss("e"), {}, start);
  CATCH_REQUIRE(over);
  CATCH_CHECK(over->code == ec::unavailable);
  CATCH_CHECK(over->message
              == "daemon \"e\" is lost; 3 attempts in a row have trained "
                 "nothing new, and `recovery.attempts` allows no more");
  CATCH_CHECK_FALSE(run.waits());
  run_recovery only{{60, 1}};
  CATCH_CHECK(only.broken(loss(), {}, start)->message
              == "daemon \"b\" is lost; 1 attempt in a row has trained "
                 "nothing new, and `recovery.attempts` allows no more");
}

CATCH_TEST_CASE("a run is put off for longer each time that it is stuck",
                "[recovery]") {
  const auto pauses = [](std::uint32_t wait) {
    run_recovery run{{wait, 100}};
    std::vector<std::chrono::milliseconds> out{run.pause()};
    for (int i = 0; i < 7; ++i) {
      CATCH_CHECK_FALSE(run.broken(loss(), {}, start));
      out.push_back(run.pause());
    }
    return out;
  };
  CATCH_CHECK(pauses(600)
              == std::vector<std::chrono::milliseconds>{0s, 2s, 4s, 8s, 16s,
                                                        30s, 30s, 30s});
  // It does not wait for longer than it may.
  CATCH_CHECK(pauses(5)
              == std::vector<std::chrono::milliseconds>{
                0s, 2s, 2500ms, 2500ms, 2500ms, 2500ms, 2500ms, 2500ms});
}

CATCH_TEST_CASE("a run that waits says for what, and until when",
                "[recovery]") {
  CATCH_CHECK_FALSE(run_recovery{}.is_wanted());
  run_recovery run{{90, 3}};
  run.broken(loss(), trained_until{0, 1}, start);
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
              == "daemon \"b\" is lost; it could not go on within 90 seconds "
                 "(`recovery.wait`): no daemon serves part 2 of 3");
}

CATCH_TEST_CASE("what a run waits for others' slots is none of its time",
                "[recovery]") {
  run_recovery run{{90, 3}};
  run.broken(loss(), trained_until{0, 1}, start);
  CATCH_CHECK(run.is_over(start + 90s));
  run.renew(start + 90s);
  CATCH_CHECK(run.waits());
  CATCH_CHECK_FALSE(run.is_over(start + 179s));
  CATCH_CHECK(run.is_over(start + 180s));
  CATCH_CHECK(run.says_held_up(fail(ec::unavailable, "its slots are taken"))
              == "has ended an attempt: daemon \"b\" is lost; it goes on once "
                 "there is room for it: its slots are taken");
}

} // namespace graphmill::test::recovering_runs
