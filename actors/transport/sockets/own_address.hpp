#pragma once

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/transport_options.hpp"

#include <cstdint>

namespace graphmill {

/// Where to listen. Fails if anyone on the network could use this process.
result<endpoint> listen_endpoint(const transport_options& options);

/// Where others are told to connect to.
/// @param port That `listens` was bound to.
result<endpoint> advertised(const transport_options& options,
                            const endpoint& listens, std::uint16_t port);

} // namespace graphmill
