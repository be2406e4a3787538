#include "actors/base/missed_time.hpp"

#include "actors/cluster/recovery/run_recovery.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>

namespace graphmill::test::missing_time {

namespace {

using namespace std::chrono_literals;

using clock = missed_time::clock;

/// An arbitrary time: a look at time 0 would be none.
const clock::time_point start{1h};

/// A run that waits for a minute, from the start on.
run_recovery waiting_run() {
  run_recovery run{{60, 3}};
  CATCH_CHECK_FALSE(run.broken(fail(ec::unavailable, "a daemon is lost"),
                               trained_until{0, 1}, start));
  return run;
}

} // namespace

CATCH_TEST_CASE("looks that are in time miss nothing", "[recovery]") {
  missed_time missed;
  CATCH_CHECK(missed.look(start) == 0s);
  CATCH_CHECK(missed.look(start + 100ms) == 0s);
  CATCH_CHECK(missed.look(start + 100ms + timeouts::late_look) == 0s);
}

CATCH_TEST_CASE("a run waits for as long as nobody looked", "[recovery]") {
  missed_time missed;
  auto run = waiting_run();
  run.put_off(missed.look(start));
  run.put_off(missed.look(start + 8h));
  CATCH_CHECK(run.left_at(start + 8h) == 60s - timeouts::late_look);
}

CATCH_TEST_CASE("whoever is always late stops waiting nevertheless",
                "[recovery]") {
  const auto gap = GENERATE(2000ms, 2001ms, 3000ms, 60'000ms);
  missed_time missed;
  auto run = waiting_run();
  run.put_off(missed.look(start));
  auto looks = 0;
  for (auto now = start; !run.is_over(now) && looks < 1000; ++looks) {
    now += gap;
    run.put_off(missed.look(now));
  }
  // Of each gap two seconds count.
  CATCH_CHECK(looks == 30);
}

} // namespace graphmill::test::missing_time
