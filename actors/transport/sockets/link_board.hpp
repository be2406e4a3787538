#pragma once

#include "actors/transport/sessions/peer.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace graphmill {

/// How a peer is, seen from here.
struct link_standing {
  std::string peer; ///< Its name.
  link_state state = link_state::closed;
  std::chrono::steady_clock::time_point since; ///< Of the state.
  std::string why;                             ///< Of what is broken.
};

/// How the peers of a transport are, for reports of health. The transport's
/// thread writes when something changes, and not for each message; any thread
/// reads.
class link_board {
public:
  using clock = std::chrono::steady_clock;

  /// More daemons than that which only ask here are not told of.
  static constexpr std::size_t most_askers = 4096;

  /// A peer that is asked from here. Without a name it is not told of: nobody
  /// has met it.
  void asks(const std::string& address, const std::string& peer,
            link_state state, std::string why, clock::time_point now);
  void forget(const std::string& address);

  /// News of one that asks here. Clients, who have no address, are left out.
  void asked_by(const peer_event& news, clock::time_point now);

  /// One of each name: as it is asked from here, if it is, or else as it asks.
  std::vector<link_standing> read() const;

private:
  struct asker {
    std::string incarnation;
    link_standing standing;
  };

  mutable std::mutex mutex_;
  std::map<std::string, link_standing> asked_; ///< By address.
  std::map<std::string, asker> askers_;        ///< By name.
};

} // namespace graphmill
