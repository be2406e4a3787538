#pragma once

#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "messages/wire/run.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// Whether this COORDINATOR still leads the cluster. Another one may have
/// followed it while its process was stopped. The lock of the folder of runs
/// decides: nobody raises the generation without it, and its holder signs its
/// file first. Daemons answer an old coordinator with `superseded`, which any
/// of them could, so that this is only a reason to look at the lock. Of the
/// COORDINATOR's state, used in its handlers alone.
class lead_guard {
public:
  using callback = cluster_port::callback;

  struct hooks {
    /// Another one leads. Called once.
    std::function<void(const error&)> superseded;
    /// A daemon does not obey, and is not used any more.
    std::function<void(const std::string& daemon, const error&)> lost;
  };

  lead_guard(cluster_port& port, cluster_notices& notices,
             daemon_registry& registry, const coordinator_config& config,
             hooks tell);

  /// Another one leads: this one ends at once and changes nothing any more.
  bool is_superseded() const { return is_superseded_; }

  /// Ends it if an error says that another coordinator has the
  /// lock.
  /// @returns whether it does.
  bool gives_way(const error& reason);

  /// Calls a daemon as its coordinator. If the daemon answers `superseded`,
  /// `then` gets an error of another code, or is not called if that is true.
  void ask(const daemon_address& daemon, method what, payload data,
           const call_options& how, callback then);

  /// A daemon says that another coordinator leads. If the lock denies that, the
  /// daemon is not used any more. If no other daemon obeys either, the cluster
  /// is led from a copy of the folder, and this one ends.
  /// @param then Gets an error if this one goes on; may be empty.
  void doubt(const daemon_address& daemon, const error& said,
             const callback& then);

  /// Looks at the lock, and at who waits for it. @param busy There are runs.
  void look_at_lock(bool busy);

  /// What to ask the daemons of a run that is on.
  struct share_check {
    member_request question;
    std::vector<daemon_address> daemons;
  };
  /// Asks daemons whether they obey: a run may have nothing to order for hours.
  /// Their answers have no other consequence.
  void look_for_successor(const std::vector<share_check>& on);

  /// Those who wait for the lock, by name.
  const std::vector<std::string>& stand_ins() const { return stand_ins_; }

private:
  void decide(const daemon_address& daemon, const error& said,
              const callback& then, const result<void>& lock);

  cluster_port& port_;
  cluster_notices& notices_;
  daemon_registry& registry_;
  std::shared_ptr<run_history> history_;
  std::shared_ptr<const state_lock> lock_;
  std::filesystem::path runs_;
  hooks tell_;
  bool is_superseded_ = false;
  std::vector<std::string> stand_ins_;
};

} // namespace graphmill
