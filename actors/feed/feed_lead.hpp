#pragma once

#include "actors/base/interfaces.hpp"

#include <functional>

namespace graphmill {

/// Spawns what a feed has in the place of a CONDUCTOR: it passes on why an
/// actor of the MEMBER cannot go on. Passes are begun by the consumer instead.
run_reports_actor spawn_feed_lead(caf::actor_system& system,
                                  std::function<void(const error&)> on_failure);

} // namespace graphmill
