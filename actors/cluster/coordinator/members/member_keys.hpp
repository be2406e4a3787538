#pragma once

#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/members/unreached_joins.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace graphmill {

class noted_members;

/// The keys of a cluster whose keys have roles: follows the members file, has
/// connections accepted with the keys in it, and sends those of daemons to all
/// daemons, which ask each other for data. Without roles it does nothing. Of
/// the COORDINATOR's state, used in its handlers alone.
class member_keys {
public:
  using clock = std::chrono::steady_clock;

  member_keys(cluster_port& port, cluster_notices& notices,
              const daemon_registry& registry, const unreached_joins& joins,
              const coordinator_config& config);

  /// Whether keys have roles.
  bool is_on() const { return watch_ != nullptr; }

  /// Has the audit log tell what has changed since it was last told, also where
  /// that was by another coordinator. A coordinator that has lost its folder
  /// leaves this to the next one.
  void note();

  /// Reads the members file now and then.
  void look(clock::time_point now);

  /// Has connections accepted with the keys that there are now, each daemon's
  /// at its address.
  void admit();

  /// False if the key was revoked after its holder had sent a request.
  bool has(const peer_identity& identity) const;

  /// The key that a daemon has joined with. Empty if it was revoked since.
  std::string key_of(const std::string& daemon) const;

  /// Those of daemons.
  std::vector<key_holder> daemon_keys() const;

  /// Sends them to a daemon. If that fails, it is sent them again later, until
  /// `joined`.
  void send_to(const std::string& daemon);
  void joined(const std::string& daemon) { missed_.erase(daemon); }

private:
  using members = std::vector<key_holder>;

  void take(result<std::optional<members>> read);

  cluster_port& port_;
  cluster_notices& notices_;
  const daemon_registry& registry_;
  const unreached_joins& joins_;
  std::shared_ptr<members_watch> watch_; ///< Null: keys have no roles.
  std::shared_ptr<audit_log> audit_;     ///< Null: nothing is audited.
  std::shared_ptr<const state_lock> lock_;
  members members_;
  /// Null unless members are audited. Used on the thread for members.
  std::shared_ptr<noted_members> noted_;
  clock::time_point look_at_{};
  bool is_looking_ = false;
  std::set<std::string> missed_; ///< Daemons without the latest keys.
};

} // namespace graphmill
