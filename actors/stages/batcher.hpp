#pragma once

#include "actors/base/interfaces.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <memory>

namespace graphmill {

/// What a BATCHER needs.
struct batcher_config {
  std::shared_ptr<const partitioned_graph> graph;
  batch_needs needs;
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
};

/// Spawns a BATCHER: merges relations and transposes them for backward.
/// Consumes the batch of its job, so a job that fails half-way must begin anew
/// from the seeds.
batcher_actor spawn_batcher(caf::actor_system& system, batcher_config config);

} // namespace graphmill
