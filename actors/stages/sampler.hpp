#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/stages/batch_stage.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace graphmill {

/// What a SAMPLER needs.
struct sampler_config {
  std::shared_ptr<const partitioned_graph> graph;
  std::vector<sampling_service_actor> services; ///< One per part.
  std::uint32_t chunks = 1; ///< Pieces that a large request is cut into.
  std::chrono::milliseconds timeout = timeouts::service; ///< Of services.
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
};

/// Spawns a SAMPLER: hop by hop asks the SAMPLING SERVICES, all of a hop at
/// once, and numbers the nodes once all have answered.
sampler_actor spawn_sampler(caf::actor_system& system, sampler_config config);

/// Its place on the way of a batch, whose size is known once it is sampled.
batch_stage sampling_by(sampler_actor actor,
                        std::shared_ptr<const partitioned_graph> graph,
                        const batch_needs& needs);

} // namespace graphmill
