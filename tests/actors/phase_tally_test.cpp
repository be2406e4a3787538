#include "actors/phase_tally.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;

namespace {

batch_key key_of(std::int64_t step, rank_id rank, std::int32_t epoch = 1) {
  return {phase::train, epoch, step, rank};
}

} // namespace

CATCH_TEST_CASE("a phase is over when every rank has told of every step",
                "[actors][tally]") {
  phase_tally it{phase::train, 1, 2, 2};
  CATCH_CHECK(it.take(key_of(1, 1), {1, 2, 3}));
  CATCH_CHECK(it.take(key_of(0, 1), {10, 20, 30}));
  CATCH_CHECK(it.take(key_of(0, 0), {100, 200, 300}));
  CATCH_CHECK(it.steps_done() == 1);
  CATCH_CHECK_FALSE(it.complete());
  CATCH_CHECK(it.take(key_of(1, 0), {1000, 2000, 3000}));
  CATCH_CHECK(it.steps_done() == 2);
  CATCH_CHECK(it.complete());
  CATCH_CHECK(it.total().loss_sum == 1111);
  CATCH_CHECK(it.total().correct == 2222);
  CATCH_CHECK(it.total().seeds == 3333);
}

CATCH_TEST_CASE("results that are told twice, or of another phase, pass",
                "[actors][tally]") {
  phase_tally it{phase::train, 1, 1, 2};
  CATCH_CHECK(it.take(key_of(0, 0), {1, 1, 1}));
  CATCH_CHECK_FALSE(it.take(key_of(0, 0), {5, 5, 5}));
  CATCH_CHECK_FALSE(it.take(key_of(0, 1, 0), {5, 5, 5}));
  CATCH_CHECK_FALSE(it.take({phase::validation, 1, 0, 1}, {5, 5, 5}));
  CATCH_CHECK_FALSE(it.take(key_of(1, 0), {5, 5, 5}));
  CATCH_CHECK_FALSE(it.take(key_of(-1, 0), {5, 5, 5}));
  CATCH_CHECK(it.total().seeds == 1);
  CATCH_CHECK_FALSE(it.complete());
  CATCH_CHECK_FALSE(phase_tally{}.take(key_of(0, 0), {1, 1, 1}));
  CATCH_CHECK(phase_tally{phase::train, 1, 0, 2}.complete());
}

CATCH_TEST_CASE("the sum does not depend on who came first",
                "[actors][tally]") {
  // Of other order, other last bits.
  const double losses[] = {1e16, 1, -1e16, 1};
  phase_tally forwards{phase::train, 1, 4, 1};
  phase_tally backwards{phase::train, 1, 4, 1};
  for (std::int64_t i = 0; i < 4; ++i) {
    CATCH_CHECK(forwards.take(key_of(i, 0), {losses[i], 0, 1}));
    CATCH_CHECK(backwards.take(key_of(3 - i, 0), {losses[3 - i], 0, 1}));
  }
  CATCH_CHECK(forwards.total().loss_sum == backwards.total().loss_sum);
}
