#include "actors/run/checkpoints/checkpoint_times.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

const checkpoint_times::clock::time_point run_begun{1h};

checkpoint_times checkpoint_times_of(std::uint32_t every_steps,
                                     std::uint32_t every_minutes) {
  definition::checkpoint_section how;
  how.every_steps = every_steps;
  how.every_minutes = every_minutes;
  return {how, run_begun};
}

} // namespace

CATCH_TEST_CASE("a checkpoint is due after so many steps",
                "[actors][checkpoint]") {
  const auto it = checkpoint_times_of(5, 0);
  for (std::int64_t step = 1; step <= 20; ++step)
    CATCH_CHECK(it.is_due(step, run_begun + 100h) == (step % 5 == 0));
}

CATCH_TEST_CASE("a checkpoint is due so many minutes after the last one",
                "[actors][checkpoint]") {
  auto it = checkpoint_times_of(0, 10);
  CATCH_CHECK_FALSE(it.is_due(1, run_begun + 10min - 1ms));
  CATCH_CHECK(it.is_due(2, run_begun + 10min));
  it.asked(run_begun + 12min);
  CATCH_CHECK_FALSE(it.is_due(3, run_begun + 22min - 1ms));
  CATCH_CHECK(it.is_due(4, run_begun + 22min));
}

CATCH_TEST_CASE("whichever of steps and minutes comes first makes one due",
                "[actors][checkpoint]") {
  const auto it = checkpoint_times_of(5, 10);
  CATCH_CHECK(it.is_due(5, run_begun));
  CATCH_CHECK(it.is_due(6, run_begun + 10min));
  CATCH_CHECK_FALSE(it.is_due(6, run_begun));
  CATCH_CHECK_FALSE(checkpoint_times_of(0, 0).is_due(5, run_begun + 100h));
}
