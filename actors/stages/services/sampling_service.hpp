#pragma once

#include "actors/base/interfaces.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <memory>

namespace graphmill {

/// What a SAMPLING SERVICE needs.
struct sampling_service_config {
  std::shared_ptr<const shard> part;
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
  bool from_disk = false; ///< The part need not be in memory.
};

/// Spawns one worker of the SAMPLING SERVICE of a part: answers which in-edges
/// of its nodes were drawn. The answer is a pure function of part and request.
/// If the part is on disk, a thread draws, since it may wait for pages.
sampling_service_actor spawn_sampling_service(caf::actor_system& system,
                                              sampling_service_config config);

} // namespace graphmill
