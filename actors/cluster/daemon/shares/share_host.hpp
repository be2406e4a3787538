#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/cluster/base/interfaces.hpp"
#include "actors/cluster/daemon/shares/hosted_shares.hpp"
#include "actors/cluster/daemon/shares/next_shares.hpp"
#include "actors/cluster/daemon/shares/share_life.hpp"

#include <spdlog/fwd.h>

#include <memory>
#include <string>

namespace graphmill {

struct agent_config;
struct member_config;
class share_keeper;
class share_reports;
class share_traces;

/// Leads the shares of runs that a daemon hosts through their lives: passes
/// events on to the `share_life` of a share, and carries out the task that it
/// returns. Used in the AGENT's handlers alone.
class share_host {
public:
  /// What it works with, which outlives it.
  struct parts {
    const agent_config& config;
    hosted_shares& shares;
    next_shares& next;
    share_keeper& keeper;
    share_reports& reports;
    share_traces& traces;
  };

  explicit share_host(agent_actor::pointer self, const parts& with);

  /// Ends all shares.
  ~share_host();

  share_host(const share_host&) = delete;
  share_host& operator=(const share_host&) = delete;

  // -- the coordinator wants

  /// Prepares a share, and replies once others can fetch what it serves. It
  /// first ends the share of an earlier attempt at the same run, and shares of
  /// runs that the deployment does not name as active beside it.
  void deploy(deployment assignment, const responder& reply);

  /// Ends a share. @param finishing The run has succeeded. @param reply Gets
  /// the report once the share is over.
  void end(const share_ptr& run, bool finishing, const responder& reply);

  // -- news of shares and of the coordinator

  /// A share is prepared: its actors are spawned.
  void begin(const run_prepared& done);

  /// Its data were verified. Damage ends the run.
  void verified(const share_verified& done);

  /// Its actors have published its parts.
  void on_ready(const share_ready& ready);

  /// The coordinator has dropped the run, or no report reaches it.
  /// @returns whether a share was active, and ends now.
  bool orphaned(const run_orphaned& lost);

  /// Keeps the state of a share and then ends it, for another attempt.
  /// @returns whether it was active, and ends now.
  bool abandon(const share_ptr& run, const error& reason);

  /// The coordinator is gone, or has begun another run.
  void end_all(const error& reason);
  /// The runs cannot go on: the coordinator learns why, and ends them.
  void fail_all(const error& reason);

private:
  std::shared_ptr<spdlog::logger> log_of(const std::string& run) const;
  void take_up(deployment assignment, const responder& reply);
  void prepare(const share_ptr& run);
  result<void> host(const share_ptr& run, member_config member);
  void spawn(const share_ptr& run, member_config member);
  void go_on(const share_ptr& run, share_life::task next);
  void verify(const share_ptr& run);
  void tell_sound(const deployment& assignment);
  share_life::task begin_end(const share_ptr& run, bool finishing);
  void member_gone(const share_ptr& run, const caf::error& reason);
  void forget(const share_ptr& run);

  agent_actor::pointer self_;
  parts with_;
  down_watch deaths_; ///< Of members.
  /// Opens parts. Last: ends before what its jobs use.
  compute_thread thread_{
    gauge_in(self_->home_system(), "the agent's thread, which opens parts")};
};

} // namespace graphmill
