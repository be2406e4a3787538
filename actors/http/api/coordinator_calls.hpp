#pragma once

#include "actors/cluster/daemon/monitoring.hpp"
#include "actors/http/server/http_server.hpp"
#include "actors/transport/sessions/responder.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// Bytes of a file that an answer has at the most: each connection may hold
/// that much until it is taken.
inline constexpr std::size_t most_file_bytes = std::size_t{1} << 20;

/// Adds what a coordinator is asked for over HTTP that nobody leaves on a board
/// or in a feed: files of runs, and, with the token for actions, what changes
/// something. It sees one client named "http" at the host that asks, who waits
/// in line and is audited as others are. actors/monitoring.md describes paths
/// and answers.
void add_coordinator_calls(http_server::options& to,
                           const coordinator_port& port);

/// The last part of a path, with its %XX decoded; nothing if it is empty or
/// these are malformed.
std::optional<std::string> last_name_in(std::string_view path);

} // namespace graphmill
