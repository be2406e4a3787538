#pragma once

#include "actors/remote/interfaces.hpp"
#include "actors/remote/remote_part.hpp"
#include "actors/transport/transport.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <memory>
#include <string>

// Where the data plane meets the transport.

namespace graphmill {

/// A way to ask the daemon at `address`. Outlives the transport: once that is
/// gone, requests fail as cancelled.
remote_call call_over(const std::shared_ptr<transport>& by, std::string address,
                      call_options options = {});

/// The same way, whose requests `gauge` counts, with how long each takes.
remote_call gauged(remote_call by, std::shared_ptr<actor_gauge> gauge);
part_call gauged(part_call by, std::shared_ptr<actor_gauge> gauge);

/// Hands a request of another daemon to the DATA SERVER, if it is one for data;
/// from any thread.
/// @returns whether it was.
bool serve_data(const data_server_actor& server,
                const incoming_request& request);

} // namespace graphmill
