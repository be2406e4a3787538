#pragma once

#include "actors/base/interfaces.hpp"

#include <chrono>

namespace graphmill {

/// Spawns a LATE GROUP, which stands before a GRADIENT GROUP as a fault: each
/// contribution reaches `group` later by `delay`. Both are linked: they end
/// together, for the same reason.
gradient_group_actor spawn_late_group(caf::actor_system& system,
                                      gradient_group_actor group,
                                      std::chrono::milliseconds delay);

} // namespace graphmill
