#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/timeouts.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <chrono>
#include <memory>

namespace graphmill {

/// What a TRAINER needs.
struct trainer_config {
  rank_id rank = 0;
  std::uint64_t run_seed = 0;
  std::shared_ptr<replica> model; ///< Used by this trainer alone.
  gradient_group_actor group;
  bool early =
    false; ///< The group takes contributions before backward is done.
  run_reports_actor conductor; ///< Told of each step, and of failures.
  /// How long all ranks may take to contribute to a step. With `early` the
  /// group has a limit of its own, from the end of backward, and this one must
  /// be longer than backward and that limit together.
  std::chrono::milliseconds group_timeout = timeouts::contribution;
  std::shared_ptr<stage_counters> counters;
  std::shared_ptr<actor_gauge> gauge; ///< Null: nobody looks at it.
};

/// Spawns a TRAINER: computes on batches in the order in which they come, on a
/// thread of its own, gives back a batch's credit after backward, and applies
/// what the GRADIENT GROUP answers.
trainer_actor spawn_trainer(caf::actor_system& system, trainer_config config);

} // namespace graphmill
