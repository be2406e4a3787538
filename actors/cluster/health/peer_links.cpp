#include "actors/cluster/health/peer_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace graphmill {

namespace {

actor_state state_of(link_state state) {
  switch (state) {
  case link_state::closed:
    return actor_state::stopped;
  case link_state::opening:
    return actor_state::starting;
  case link_state::ready:
    return actor_state::running;
  case link_state::silent:
    return actor_state::waiting;
  case link_state::broken:
    return actor_state::restarting;
  case link_state::lost:
    return actor_state::failed;
  }
  return actor_state::failed;
}

} // namespace

std::string trouble_of(const link_standing& link,
                       std::chrono::steady_clock::time_point now) {
  const auto seconds =
    std::chrono::floor<std::chrono::seconds>(now - link.since).count();
  if (link.state == link_state::silent)
    return fmt::format("leaves signs of life unanswered for {} s", seconds);
  if (link.state == link_state::broken || link.state == link_state::lost)
    return fmt::format("its connections are broken for {} s{}{}", seconds,
                       link.why.empty() ? "" : ": ", link.why);
  return {};
}

void add_links(std::vector<peer_health>& peers,
               const std::vector<link_standing>& links, const peer_flows& run,
               std::chrono::steady_clock::time_point now) {
  for (const auto& link : links) {
    if (!run.to(link.peer))
      continue;
    const auto name = link.peer.substr(0, health_limits::text);
    auto peer = std::ranges::find(peers, name, &peer_health::name);
    if (peer == peers.end()) {
      if (link.state == link_state::closed || link.state == link_state::ready
          || peers.size() >= health_limits::peers)
        continue;
      peers.emplace_back().name = name;
      peer = std::prev(peers.end());
    }
    peer->state = state_of(link.state);
    peer->in_state =
      std::max(0.0, std::chrono::duration<double>(now - link.since).count());
    peer->why = link.state == link_state::silent
                  ? "it leaves signs of life unanswered"
                  : link.why.substr(0, health_limits::text);
  }
}

} // namespace graphmill
