#pragma once

#include "actors/transport/peer.hpp"
#include "messages/cluster.hpp"
#include "messages/error.hpp"
#include "pipelines/placement.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Who is in the cluster. Pure: the COORDINATOR tells it what happens.
class membership {
public:
  struct entry {
    daemon_status status;
    std::string incarnation;
    bool drained = false; ///< Says its operator, whatever happens to it.
  };

  /// @param like What the coordinator's own dataset is: all must have the same.
  explicit membership(join_request like) : like_(std::move(like)) {}

  /// Whether a daemon with these parts fits the cluster's dataset.
  result<void> check(const std::string& name, const join_request& what) const;

  /// The living daemon of another incarnation that has the name, if any.
  std::optional<entry> rival_of(const peer_identity& who) const;

  /// Takes a daemon in; one of the same name is replaced. @pre `check`
  void join(const peer_identity& who, const join_request& what);

  /// A daemon has left for good.
  /// @returns whether there was one of this incarnation.
  bool leave(const std::string& name, const std::string& incarnation);

  /// The daemon at the address is gone, or back.
  /// @returns the daemon, if there is one whose state has changed.
  std::optional<entry> lost(const std::string& address, std::string why);
  std::optional<entry> back(const std::string& address,
                            const std::string& incarnation);

  /// The daemon at the address, if it is of another incarnation.
  std::optional<entry> outdated(const std::string& address,
                                const std::string& incarnation);

  /// Fails if there is no such daemon.
  result<void> drain(const std::string& name, bool drained);
  result<entry> find(const std::string& name) const;

  /// Daemons that a new run may use.
  std::vector<daemon_offer> offers() const;
  std::vector<daemon_status> statuses() const; ///< By name.
  const join_request& like() const { return like_; }

private:
  entry* at(const std::string& address);
  static daemon_state state_of(const entry& one);

  join_request like_;
  std::map<std::string, entry> daemons_; ///< By name.
};

} // namespace graphmill
