#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/cluster/daemon/agent.hpp"
#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "actors/cluster/health/health_reporter.hpp"
#include "actors/cluster/recovery/kept_state.hpp"
#include "actors/process/logs/log_lines.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// Part of the AGENT's state: the shares of runs that the daemon hosts, from
/// their deployment until they have ended. Runs in the AGENT's handlers.
class share_host {
public:
  /// @param config Of the agent `self`. Outlives this.
  share_host(agent_actor::pointer self, const agent_config& config);

  /// Ends all shares.
  ~share_host();

  share_host(const share_host&) = delete;
  share_host& operator=(const share_host&) = delete;

  // -- requests of the coordinator

  /// Prepares a share, and answers once others can ask for what it serves. Ends
  /// that of an earlier attempt at the same run, whose end it waits for, and
  /// shares of runs that are not among those that it says are on beside it.
  void deploy(const incoming_request& request);

  /// Carries a request out and answers it; a request to end is answered with
  /// the report, once the share is over.
  /// @returns whether the order ends a share of a run that is no success.
  bool take_request(const incoming_request& request);

  /// Answers with a piece of the weights of a run's last snapshot, or of what
  /// is kept of it; or with what its actors did.
  result<payload> read(const incoming_request& request) const;

  // -- news of shares and of the coordinator

  /// A share is prepared: its actors are spawned.
  void begin(const run_prepared& done);

  /// Its data were verified. Damage ends the run.
  void verified(const share_verified& done);

  /// Its actors have published its parts.
  void on_ready(const share_ready& ready);

  /// The coordinator does not know the run any more, or cannot be told of it.
  /// @returns whether a share was on, and ends now.
  bool orphaned(const run_orphaned& lost);
  /// The coordinator is gone, or has begun another run.
  void end_all(const error& reason);
  /// The runs cannot go on: the coordinator learns why, and ends them.
  void fail_all(const error& reason);

  /// Looks at how much memory the process has by now.
  void sample_memory();

  /// A report of health of each share that is on, if they are due; none without
  /// one that is prepared.
  std::vector<daemon_health> due_health();

  /// What the daemon tells of itself over HTTP.
  daemon_figures figures(health_reporter::clock::time_point now);

  /// Forgets what was kept for another attempt of a run, if it is time to.
  void look_at_kept() { kept_.look(kept_state::clock::now()); }

private:
  using share = std::shared_ptr<hosted_share>;

  std::shared_ptr<spdlog::logger> log_of(const std::string& run) const {
    return log_about(config_.log, {.run = run});
  }
  auto log_of(const share& run) const { return log_of(run->assignment.run); }
  const std::string& name() const { return config_.around.net->self().name; }
  result<share> find(const std::string& id) const;
  share find(const std::string& id, std::uint32_t attempt) const;
  bool abandon(const share& run, const error& reason);
  result<void> check(const deployment& assignment) const;
  void take_up(deployment assignment, const responder& reply);
  void drop_next(const std::string& run, const error& reason);
  void drop_all_next(const error& reason,
                     const std::vector<std::string>& but = {});
  bool is_about_next(const member_request& wanted) const;
  void prepare(const share& run);
  result<void> host(const share& run, member_config member);
  void spawn(const share& run, member_config member);
  void go_on(const share& run, share_life::task next);
  void verify(const share& run);
  void tell_sound(const deployment& assignment);
  std::vector<share> told_of() const;
  void note_traced(const hosted_share& run);
  result<payload> weights(const payload& data) const;
  result<payload> spans(const payload& data) const;
  health_source source_of(const hosted_share& run) const;
  void tell_last_health(const hosted_share& run);
  void carry_out(const share& run, const member_request& request,
                 const responder& reply);
  void ask_trainers(const share& run, const member_request& request,
                    const responder& reply);
  share_life::task begin_end(const share& run, bool finishing);
  void order_end(const share& run, bool finishing, const responder& reply);
  bool is_here(const share& run) const;
  /// Keeps what the trainers here have, if there are any and it is wanted.
  void keep_and_then(const share& run, std::function<void()> then);
  void keep(const hosted_share& run, const member_state& state);
  void order_keep(const share& run, const responder& reply);
  void tell_kept(const std::string& id, const responder& reply);
  void member_gone(const share& run, const caf::error& reason);
  void forget(const share& run);

  agent_actor::pointer self_;
  const agent_config& config_;
  down_watch deaths_; ///< Of members.
  request_watch requests_;
  std::map<std::string, share> runs_;
  /// Another attempt at a run whose share is about to end here.
  struct next_share {
    deployment assignment;
    responder reply;
  };
  std::map<std::string, next_share> next_; ///< By run.
  kept_state kept_;
  health_reporter health_;
  /// Of shares, also when they are over, until another one begins, so that one
  /// may look at what went wrong: in memory of a fixed size for each of those
  /// that may be on at once.
  struct traced_share {
    std::uint32_t attempt = 0;
    std::shared_ptr<const gauge_board> board;
  };
  std::map<std::string, traced_share> traced_; ///< By run.
  /// Opens parts. Last: ends before what its jobs use.
  compute_thread thread_{
    gauge_in(self_->home_system(), "the agent's thread, which opens parts")};
};

} // namespace graphmill
