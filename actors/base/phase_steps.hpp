#pragma once

#include "messages/base/ids.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"

#include <cstdint>
#include <memory>
#include <vector>

// The phases of a run and the results of their steps, for actors and for what
// reports on runs without actors.

namespace graphmill {

/// One pass over the seeds of a split, on order of the conductor. Each member
/// computes the seeds itself, by the same epoch plan.
struct phase_request {
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  std::int64_t steps = 0;   ///< To do; the plan may have more.
  double learning_rate = 0; ///< Phase train only.
  std::int64_t first = 0;   ///< First step, from 0 to `steps`.
  /// Where the epoch started or was resumed, with the sums of its steps so far.
  /// With a trainer's own steps since then, it gives the present position.
  course_position from = {};
  batch_metrics before = {};
  measures wanted = {}; ///< Of an evaluation.
  /// Of a feed: global ids in place of the member's seeds; null: those.
  std::shared_ptr<const std::vector<node_id>> own_seeds = nullptr;
};

/// What a rank reports of a step.
struct step_result {
  batch_key key;
  batch_metrics metrics;
  std::shared_ptr<batch_output> output; ///< With `outputs` only.
  std::shared_ptr<std::vector<node_id>> original_seeds; ///< With `seeds`.
  /// Of an evaluation without `outputs`.
  std::shared_ptr<const seed_outcomes> outcomes = nullptr;
};

} // namespace graphmill
