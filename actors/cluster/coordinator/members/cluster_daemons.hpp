#pragma once

#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/members/member_keys.hpp"
#include "actors/cluster/coordinator/members/unreached_joins.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The daemons of a cluster: lets them join once they are reached at their
/// address, notices when they are lost, are back or leave, and keeps
/// connections to them. Of the COORDINATOR's state, used in its handlers alone.
class cluster_daemons {
public:
  using clock = std::chrono::steady_clock;

  /// What follows for runs.
  struct hooks {
    /// The daemon does not serve runs any more, which may use it.
    std::function<void(const std::string& daemon, const error&)> lost;
    /// A daemon registers again. It may have ended its shares.
    std::function<void(const peer_identity&)> registered_again;
    /// A daemon has joined. @param anew It has been started since it was heard.
    std::function<void(const std::string& daemon, bool anew)> joined;
    /// Runs may find another place, or wait for something else.
    std::function<void()> changed;
    /// The runs that need a daemon.
    std::function<std::vector<std::string>(const std::string& daemon)> needing;
  };

  cluster_daemons(cluster_port& port, cluster_notices& notices,
                  const coordinator_config& config, hooks tell);

  daemon_registry& registry() { return registry_; }
  const daemon_registry& registry() const { return registry_; }
  member_keys& keys() { return keys_; }

  void join(const incoming_request& request);

  /// A connection that is kept from here comes or goes.
  void on_peer(const peer_event& event);

  /// Refuses those that were not reached in time, and forgets consumers that do
  /// not come back: others have other names.
  void look(clock::time_point now);

  /// A daemon leaves when no run needs it any more. It is answered then.
  void leave_later(const peer_identity& who, const responder& reply);
  void let_leavers_go();

  /// A daemon is not in the cluster any more, unless another one has its name
  /// by now. If it has asked to join and was not reached yet, it will not be.
  void let_go(const std::string& daemon, const std::string& incarnation);

private:
  /// A daemon that has asked to leave.
  struct farewell {
    std::string daemon;
    std::string incarnation;
    responder reply;
  };

  void ask_rival(const daemon_registry::entry& rival,
                 unreached_joins::join joins);
  void reach(unreached_joins::join asked);
  void admit(const unreached_joins::join& reached);
  void take_in(const peer_identity& identity, const join_request& request,
               const responder& reply);
  void on_met(const peer_identity& identity);
  void on_lost(const std::optional<daemon_registry::entry>& daemon);
  void forget(const std::string& address);
  void forget_lost_consumers(clock::time_point now);

  cluster_port& port_;
  cluster_notices& notices_;
  hooks tell_;
  daemon_registry registry_;
  unreached_joins joins_;
  member_keys keys_;
  std::vector<farewell> leaving_;
  /// Until when consumers that are lost are awaited.
  std::map<std::string, clock::time_point> lost_consumers_;
};

} // namespace graphmill
