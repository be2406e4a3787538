#pragma once

#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "messages/wire/cluster.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Daemons that have asked to join, until the coordinator has reached them at
/// the address that they gave, and whom it has reached where. A daemon is taken
/// only when its own incarnation answers at its address: one that nobody can
/// reach is of no use, and must not take the place of one that is. Pure: the
/// COORDINATOR tells it what happens and when.
class unreached_joins {
public:
  using time_point = std::chrono::steady_clock::time_point;

  struct join {
    peer_identity identity;
    join_request offer;
    std::string home; ///< What counts as its host.
    responder reply;
    std::string replaces{}; ///< The incarnation of a dead one of its name.
  };
  /// One that was not reached in time, and why.
  struct late_join {
    join asked;
    error reason;
  };

  /// Another process than before, or somebody at last, answers at an address.
  /// @returns the joins that waited for that.
  std::vector<join> met(const std::string& address,
                        const std::string& incarnation);
  /// Nobody answers there any more, or nobody tries.
  void gone(const std::string& address) { met_.erase(address); }

  bool is_met(const peer_identity& who) const;

  /// A join has to wait. One of the same daemon that waits already is answered
  /// as out of date. Fails if too many wait, in all or of its host.
  result<void> add(join asked, time_point until);

  /// A daemon that waits does not join after all. @returns its join, if it has
  /// waited.
  std::optional<join> drop(const std::string& incarnation);

  /// Those whose time is over.
  std::vector<late_join> overdue(time_point now);

  /// Whether somebody who waits gave this address.
  bool waits_at(const std::string& address) const;
  std::vector<peer_identity> waiting() const;
  std::size_t size() const { return waiting_.size(); }

private:
  struct waiting_join : join {
    time_point until;
  };

  error why_late(const join& asked) const;

  std::map<std::string, waiting_join> waiting_; ///< By incarnation.
  std::map<std::string, std::string> met_;      ///< Incarnations, by address.
};

} // namespace graphmill
