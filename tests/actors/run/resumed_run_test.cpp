#include "tests/actors/run/conductor_scene.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace graphmill::test::conducting {

CATCH_TEST_CASE("a run leaves a checkpoint at every epoch's edge",
                "[actors][conductor]") {
  conductor_scene f;
  f.keep_checkpoints(0);
  CATCH_REQUIRE_FALSE(f.run_through().failure);
  // One at a time: an edge that comes too soon does without, but for the last.
  CATCH_REQUIRE(!f.checkpoints.empty());
  CATCH_CHECK(f.checkpoints.size() <= 3);
  std::int32_t epoch = 0;
  for (const auto& made : f.checkpoints) {
    CATCH_REQUIRE(made.tensors != nullptr);
    CATCH_CHECK(made.at.epoch > std::exchange(epoch, made.at.epoch));
    // It may have got a step of the epoch that follows.
    CATCH_CHECK(made.at.train_steps == made.at.epoch * 4 + made.at.step);
    CATCH_CHECK(made.so_far.seeds
                == std::min<std::int64_t>(made.at.step * 6, 20));
  }
  CATCH_CHECK(f.checkpoints.back().at == course_position{3, 0, 12, {}, 0});
}

CATCH_TEST_CASE("a run goes on from where all steps of an epoch are done",
                "[actors][conductor]") {
  // There trainers stand while a run validates or is at an epoch's edge.
  conductor_scene whole;
  whole.keep_checkpoints(0);
  const auto expected = whole.run_through();
  CATCH_REQUIRE_FALSE(expected.failure);
  for (const auto& left : whole.checkpoints) {
    if (left.at.step != 0)
      continue;
    auto end = left;
    --end.at.epoch;
    end.at.step = 4;
    const auto epoch = std::find_if(
      whole.phases.begin(), whole.phases.end(), [&end](const auto& one) {
        return one.phase == phase::train && one.epoch == end.at.epoch;
      });
    CATCH_REQUIRE(epoch != whole.phases.end());
    end.so_far = epoch->metrics;
    conductor_scene rest;
    rest.from = end;
    const auto outcome = rest.run_through();
    CATCH_REQUIRE_FALSE(outcome.failure);
    CATCH_CHECK(outcome.digest == expected.digest);
    CATCH_CHECK(outcome.train_steps == 12);
    // The epoch is told in full, once more.
    CATCH_REQUIRE(!rest.phases.empty());
    CATCH_CHECK(rest.phases.front().phase == phase::train);
    CATCH_CHECK(rest.phases.front().epoch == end.at.epoch);
    CATCH_CHECK(rest.phases.front().metrics.loss_sum
                == epoch->metrics.loss_sum);
    CATCH_CHECK(rest.phases.front().metrics.seeds == 20);
  }
}

CATCH_TEST_CASE(
  "a run that goes on from a checkpoint ends with the same weights",
  "[actors][conductor]") {
  conductor_scene whole;
  whole.validation = GENERATE(false, true);
  whole.def.optimizer.schedule = schedule_kind::cosine;
  whole.keep_checkpoints(1);
  const auto expected = whole.run_through();
  CATCH_REQUIRE_FALSE(expected.failure);
  CATCH_REQUIRE(!whole.checkpoints.empty());
  for (const auto& left : whole.checkpoints) {
    CATCH_INFO("epoch " << left.at.epoch << ", step " << left.at.step);
    conductor_scene rest;
    rest.validation = whole.validation;
    rest.def.optimizer.schedule = schedule_kind::cosine;
    rest.def.faults.crash_every = 5;
    rest.from = left;
    const auto outcome = rest.run_through();
    CATCH_REQUIRE_FALSE(outcome.failure);
    CATCH_CHECK(outcome.digest == expected.digest);
    CATCH_CHECK(outcome.train_steps == 12);
    CATCH_CHECK(outcome.best_validation == expected.best_validation);
    // The metrics of what is left are the same, to the bit.
    CATCH_REQUIRE(rest.phases.size() <= whole.phases.size());
    const auto skipped = whole.phases.size() - rest.phases.size();
    for (std::size_t p = 0; p < rest.phases.size(); ++p) {
      const auto& one = rest.phases[p];
      const auto& other = whole.phases[skipped + p];
      CATCH_CHECK(one.epoch == other.epoch);
      CATCH_CHECK(one.steps == other.steps);
      CATCH_CHECK(one.metrics.loss_sum == other.metrics.loss_sum);
      CATCH_CHECK(one.metrics.seeds == other.metrics.seeds);
    }
  }
}

CATCH_TEST_CASE("a run that is cancelled leaves a checkpoint where it stopped",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.train.epochs = 100000;
  f.keep_checkpoints(0);
  const auto outcome = f.run_ten_steps([](const conductor_actor& conductor) {
    post_urgent(conductor, cancel_run{});
  });
  CATCH_REQUIRE(outcome.failure);
  CATCH_REQUIRE(!f.checkpoints.empty());
  CATCH_CHECK(f.checkpoints.back().at.train_steps == outcome.train_steps);
}

CATCH_TEST_CASE("a state of another model is not gone on from",
                "[actors][conductor]") {
  conductor_scene whole;
  whole.keep_checkpoints(0);
  whole.run_through();
  conductor_scene other;
  other.def.model.hidden = 8;
  other.from = whole.checkpoints.front();
  const auto outcome = other.run_through();
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK_THAT(outcome.failure->message, contains("has shape"));
  CATCH_CHECK(outcome.parameters == nullptr);
}

} // namespace graphmill::test::conducting
