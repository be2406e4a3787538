#pragma once

#include "actors/interfaces.hpp"
#include "partition/shard.hpp"
#include "pipelines/stage_counters.hpp"

#include <memory>

namespace graphmill {

/// What a FEATURE SERVICE needs.
struct feature_service_config {
  std::shared_ptr<const shard> part;
  std::shared_ptr<stage_counters> counters;
  bool half = false; ///< Round features to float16.
};

/// Spawns one worker of the FEATURE SERVICE of a part: copies features, labels,
/// degrees and original ids of its nodes to where a job says.
feature_service_actor spawn_feature_service(caf::actor_system& system,
                                            feature_service_config config);

} // namespace graphmill
