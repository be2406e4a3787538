#pragma once

#include "actors/transport/sockets/link_board.hpp"
#include "messages/wire/health.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace graphmill {

/// Adds to what is told of peers how the connections with them are. Daemons of
/// the run (those that `run` counts) whose connections are not as they should
/// be are appended, as far as a report has room, though nothing has gone there.
void add_links(std::vector<peer_health>& peers,
               const std::vector<link_standing>& links, const peer_flows& run,
               std::chrono::steady_clock::time_point now);

/// What is wrong with connections, in a few words; empty if nothing is.
std::string trouble_of(const link_standing& link,
                       std::chrono::steady_clock::time_point now);

} // namespace graphmill
