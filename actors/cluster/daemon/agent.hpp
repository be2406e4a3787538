#pragma once

#include "actors/cluster/daemon/shares/agent_config.hpp"

namespace graphmill {

/// Spawns the AGENT. It registers the daemon with the coordinator, and again
/// whenever the coordinator is back, and hosts a MEMBER for every run that is
/// deployed. When the coordinator is lost it keeps these for a grace period:
/// they go on as far as they can without orders. They end when the same
/// coordinator has not claimed them by then, by an order, or when another one
/// comes. A coordinator that another one has followed is not obeyed. It looks
/// at the data that it serves every two seconds, and tells the coordinator when
/// they cannot be used, and when they can be used again.
agent_actor spawn_agent(caf::actor_system& system, agent_config config);

} // namespace graphmill
