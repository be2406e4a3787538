#pragma once

#include "actors/base/interfaces.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/gradients/devices/orphan_threads.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/gradients/group_rank.hpp"
#include "pipelines/gradients/messages/rank_link.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <memory>
#include <string>

namespace graphmill {

/// What one rank's end of a GRADIENT GROUP over processes needs.
struct ddp_group_config {
  group_options options;
  gradient_shape shape;                    ///< Of the rank's replica.
  std::string device = "cpu";              ///< The device of the replica.
  std::shared_ptr<rank_link> link;         ///< To the other ranks.
  std::shared_ptr<rendezvous_store> store; ///< Where the ranks meet.
  std::shared_ptr<orphan_threads> orphans; ///< One per process.
  std::shared_ptr<stage_counters> counters;
  std::shared_ptr<actor_gauge> gauge; ///< Null: nobody looks at it.
};

/// Spawns a GRADIENT GROUP for one rank, whose trainer alone talks to it. It
/// joins the groups of the other ranks, wherever they are, and gives the same
/// sums as the group of one process would, bit by bit. A failure is answered
/// with the ranks that are missing, and so are all contributions after it: only
/// a group of the next generation could go on. A polite end (`stop_actor`)
/// answers what is open with `ec::cancelled`. @pre The rank is one of the
/// ranks, and has a link if there are others.
gradient_group_actor spawn_ddp_group(caf::actor_system& system,
                                     ddp_group_config config);

} // namespace graphmill
