#pragma once

#include "actors/remote/interfaces.hpp"

#include <string>

namespace graphmill {

/// Spawns the DATA SERVER of a daemon.
/// @param daemon Its name, for errors.
///
/// It decodes requests, asks the local services and encodes their answers; it
/// waits for no pipeline credit. What a request makes it allocate is bounded by
/// the size of a message. A request for a run or part that is not served (yet)
/// is answered `unavailable`.
data_server_actor spawn_data_server(caf::actor_system& system,
                                    std::string daemon);

} // namespace graphmill
