#pragma once

#include "actors/remote/interfaces.hpp"
#include "actors/remote/remote_part.hpp"
#include "actors/transport/transport.hpp"

#include <memory>
#include <string>

// Where the data plane meets the transport.

namespace graphmill {

/// A way to ask the daemon at `address`. Outlives the transport: once that is
/// gone, requests fail as cancelled.
remote_call call_over(const std::shared_ptr<transport>& by, std::string address,
                      call_options options = {});

/// Hands a request of another daemon to the DATA SERVER, if it is one for data;
/// from any thread.
/// @returns whether it was.
bool serve_data(const data_server_actor& server,
                const incoming_request& request);

} // namespace graphmill
