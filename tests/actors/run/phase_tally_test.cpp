#include "actors/run/phase_tally.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

using namespace graphmill;

namespace {

phase_request request_of(std::int64_t steps) {
  phase_request out;
  out.epoch = 1;
  out.steps = steps;
  return out;
}

bool tell(phase_tally& to, batch_key key, batch_metrics metrics) {
  step_result told;
  told.key = key;
  told.metrics = metrics;
  return to.take(told);
}

batch_key key_of(std::int64_t step, rank_id rank, std::int32_t epoch = 1) {
  return {phase::train, epoch, step, rank};
}

} // namespace

CATCH_TEST_CASE("a phase is over when every rank has told of every step",
                "[actors][tally]") {
  phase_tally it{request_of(2), 2};
  CATCH_CHECK(tell(it, key_of(1, 1), {1, 2, 3}));
  CATCH_CHECK(tell(it, key_of(0, 1), {10, 20, 30}));
  CATCH_CHECK(tell(it, key_of(0, 0), {100, 200, 300}));
  CATCH_CHECK(it.steps_done() == 1);
  CATCH_CHECK_FALSE(it.complete());
  CATCH_CHECK(tell(it, key_of(1, 0), {1000, 2000, 3000}));
  CATCH_CHECK(it.steps_done() == 2);
  CATCH_CHECK(it.complete());
  const auto sum = it.result();
  CATCH_CHECK(sum.epoch == 1);
  CATCH_CHECK(sum.steps == 2);
  CATCH_CHECK(sum.metrics.loss_sum == 1111);
  CATCH_CHECK(sum.metrics.correct == 2222);
  CATCH_CHECK(sum.metrics.seeds == 3333);
}

CATCH_TEST_CASE("results that are told twice, or of another phase, pass",
                "[actors][tally]") {
  phase_tally it{request_of(1), 2};
  CATCH_CHECK(tell(it, key_of(0, 0), {1, 1, 1}));
  for (const auto& wrong :
       {key_of(0, 0), key_of(0, 1, 0), batch_key{phase::validation, 1, 0, 1},
        key_of(1, 0), key_of(-1, 0), key_of(-1, 3), key_of(0, 2),
        key_of(0, -1)})
    CATCH_CHECK_FALSE(tell(it, wrong, {5, 5, 5}));
  CATCH_CHECK(it.result().metrics.seeds == 1);
  CATCH_CHECK_FALSE(it.complete());
  CATCH_CHECK(phase_tally{request_of(0), 2}.complete());
}

CATCH_TEST_CASE("a phase that begins in its middle adds to what was before",
                "[actors][tally]") {
  auto request = request_of(4);
  request.first = 2;
  request.before = {100, 10, 20};
  phase_tally it{request, 1};
  CATCH_CHECK(it.steps_done() == 2);
  CATCH_CHECK_FALSE(tell(it, key_of(1, 0), {1, 1, 1}));
  CATCH_CHECK(it.until(2)->loss_sum == 100);
  CATCH_CHECK_FALSE(it.until(1));
  CATCH_CHECK_FALSE(it.until(5));
  CATCH_CHECK(tell(it, key_of(3, 0), {1, 1, 1}));
  CATCH_CHECK_FALSE(it.until(4)); // A result is missing before it.
  CATCH_CHECK(tell(it, key_of(2, 0), {10, 1, 1}));
  CATCH_CHECK(it.until(3)->loss_sum == 110);
  CATCH_CHECK(it.complete());
  CATCH_CHECK(it.result().metrics.loss_sum == 111);
  CATCH_CHECK(it.result().metrics.seeds == 22);
  CATCH_CHECK(it.result().steps == 4);

  request.first = 4;
  CATCH_CHECK(phase_tally{request, 1}.complete());
}

CATCH_TEST_CASE("the sum does not depend on who came first",
                "[actors][tally]") {
  // Of other order, other last bits.
  const double losses[] = {1e16, 1, -1e16, 1};
  phase_tally forwards{request_of(4), 1};
  phase_tally backwards{request_of(4), 1};
  for (std::int64_t i = 0; i < 4; ++i) {
    CATCH_CHECK(tell(forwards, key_of(i, 0), {losses[i], 0, 1}));
    CATCH_CHECK(tell(backwards, key_of(3 - i, 0), {losses[3 - i], 0, 1}));
  }
  CATCH_CHECK(forwards.result().metrics.loss_sum
              == backwards.result().metrics.loss_sum);
}

CATCH_TEST_CASE("a phase has the metrics of classes that all ranks tell of",
                "[actors][tally]") {
  phase_request request;
  request.phase = phase::validation;
  request.steps = 1;
  request.wanted.metric = evaluation_metric::f1_macro;
  const auto told_of = [](rank_id rank, std::vector<confusion_count> pairs,
                          std::int64_t seeds) {
    seed_outcomes outcomes;
    outcomes.classes = 2;
    outcomes.confusion = std::move(pairs);
    step_result told;
    told.key = {phase::validation, 0, 0, rank};
    told.metrics = {1, 1, seeds};
    told.outcomes = std::make_shared<const seed_outcomes>(std::move(outcomes));
    return told;
  };
  phase_tally it{request, 2};
  CATCH_CHECK(it.take(told_of(1, {{0, 1, 2}}, 2)));
  const auto other = told_of(0, {{0, 0, 1}, {1, 1, 1}}, 2);
  CATCH_CHECK(it.take(other));
  CATCH_CHECK_FALSE(it.take(other)); // Counted once.
  const auto done = it.result();
  CATCH_REQUIRE(done.classes);
  CATCH_CHECK(done.classes->confusion == std::vector<std::int64_t>{1, 2, 0, 1});
  // F1 of the classes is 2 / 4 and 2 / 4.
  CATCH_CHECK(done.quality() == 0.5);

  phase_tally silent{request, 1};
  auto nothing = told_of(0, {}, 2);
  nothing.outcomes.reset();
  CATCH_CHECK(silent.take(nothing));
  CATCH_CHECK_FALSE(silent.result().classes);
  CATCH_CHECK(std::isnan(silent.result().quality()));
}
