#pragma once

#include "actors/base/interfaces.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <memory>

namespace graphmill {

/// What the GRADIENT GROUP needs.
struct gradient_group_config {
  rank_id ranks = 1;
  std::shared_ptr<stage_counters> counters;
  std::shared_ptr<actor_gauge> gauge; ///< Null: nobody looks at it.
};

/// Spawns the GRADIENT GROUP of the trainers of one process: adds up gradients
/// in rank order, whatever the order of arrival, and answers all ranks alike.
gradient_group_actor spawn_gradient_group(caf::actor_system& system,
                                          gradient_group_config config);

} // namespace graphmill
