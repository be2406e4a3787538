#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/timeouts.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace graphmill {

/// What a FETCHER needs.
struct fetcher_config {
  std::shared_ptr<const partitioned_graph> graph;
  std::vector<feature_service_actor> services; ///< One per part.
  batch_needs needs;
  std::uint32_t chunks = 1; ///< Pieces that a large request is cut into.
  std::chrono::milliseconds timeout = timeouts::service; ///< Of services.
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
};

/// Spawns a FETCHER: has the FEATURE SERVICES write the rows of a batch's nodes
/// straight into the batch.
fetcher_actor spawn_fetcher(caf::actor_system& system, fetcher_config config);

} // namespace graphmill
