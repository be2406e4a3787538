#pragma once

#include "actors/dispatcher.hpp"
#include "actors/interfaces.hpp"
#include "messages/definition.hpp"
#include "pipelines/course.hpp"
#include "pipelines/stage_counters.hpp"

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The end of a phase.
struct phase_result {
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  batch_metrics metrics;
  std::int64_t steps = 0;
  double learning_rate = 0;
  double seconds = 0;
};

/// How a run ended. Without `failure` it went to its end.
struct run_outcome {
  std::optional<error> failure; ///< `ec::cancelled` when the user stopped it.
  std::string digest;           ///< Of the weights; empty if there are none.
  std::shared_ptr<const std::vector<named_tensor>> parameters;
  std::optional<double> best_validation;
  std::int64_t train_steps = 0;
};

/// Called from the CONDUCTOR's thread; must be quick and must not throw.
struct run_observer {
  std::function<void(const phase_work&, std::int64_t done)> on_step;
  std::function<result<void>(const phase_result&)> on_phase; ///< Errors end it.
  std::function<void(const step_result&)> on_output;
  std::function<void(run_outcome)> on_end; ///< Once.
};

/// What a run in one process needs.
struct conductor_config {
  definition def;
  std::shared_ptr<const partitioned_graph> graph;
  std::vector<std::shared_ptr<const shard>> shards; ///< By part.
  std::vector<std::shared_ptr<replica>> models;     ///< By rank.
  graphmill::course course;
  std::shared_ptr<const sampling_plan> train_plan;
  std::shared_ptr<const sampling_plan> evaluate_plan;
  /// Instead of a split's seeds in evaluation: global ids. Null: the split's.
  std::shared_ptr<const std::vector<node_id>> seeds;
  bool outputs = false; ///< Ask for predictions and embeddings.
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<spdlog::logger> log;
  std::shared_ptr<dispatcher_gauges> gauges;
  run_observer observer;
};

/// The stages of a run with their counters, in pipeline order.
struct stage_table {
  std::shared_ptr<stage_counters> sampling_service, sampler, feature_service,
    fetcher, batcher, trainer, gradient_group;

  static stage_table of(const definition& def, part_id parts);
  std::vector<stage_report> reports() const;
};

/// Spawns the CONDUCTOR, and it all other actors of the run. It leads through
/// the course phase by phase, ends the run when an actor ends unasked, and
/// checks that the replicas are equal at the end.
conductor_actor spawn_conductor(caf::actor_system& system,
                                conductor_config config, stage_table stages);

} // namespace graphmill
