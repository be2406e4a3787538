#pragma once

#include "actors/cluster/base/coordinator_interface.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"

namespace graphmill {

/// Spawns the COORDINATOR: takes daemons in, queues runs, and carries them out
/// on the daemons of the cluster, one after the other or several at once. What
/// cannot work is refused at once, with a sentence. It goes on with the open
/// runs of `history`, for which it reads checkpoints before this returns.
coordinator_actor spawn_coordinator(caf::actor_system& system,
                                    coordinator_config config);

} // namespace graphmill
