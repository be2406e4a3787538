#pragma once

#include "actors/cluster/active_run.hpp"
#include "actors/cluster/calls.hpp"
#include "actors/cluster/coordinator.hpp"
#include "actors/cluster/membership.hpp"
#include "actors/cluster/run_board.hpp"
#include "actors/compute_lane.hpp"

#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// How long a call may take: see `call_options`.
inline call_options within(std::chrono::milliseconds deadline,
                           std::chrono::milliseconds unreachable,
                           unsigned attempts = 3) {
  call_options out;
  out.deadline = deadline;
  out.unreachable = unreachable;
  out.attempts = attempts;
  return out;
}

/// Of the wall clock, for records.
unix_time now_unix();

/// The state of the COORDINATOR. What it does with daemons stands in
/// coordinator.cpp, what it keeps and tells of runs in coordinator_runs.cpp,
/// and how it leads the one that is on in coordinator_active_run.cpp.
class coordinator {
public:
  using clock = std::chrono::steady_clock;
  using interface = coordinator_actor;
  static constexpr const char* name = "coordinator";

  coordinator(interface::pointer self, coordinator_config config)
    : self_(self), config_(std::move(config)), calls_(self, config_.net),
      members_(config_.offer) {
    deaths_.install(self_);
    look_again();
  }

  ~coordinator() {
    if (active_)
      stop_actor(active_->conductor);
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const incoming& in) { serve(in.request); },
      [this](const peer_news& news) { on_peer(news.event); },
      [this](const run_news_came& came) {
        if (active_ && active_->id == came.run)
          board_.add(came.run, came.news);
        answer_watchers(clock::now());
      },
      [this](const run_ended& ended) { on_ended(ended); },
      [this](const call_ended& ended) { calls_.ended(ended); },
      [this](const run_filed& filed) { on_filed(filed); },
      [this](const tick&) { look(); },
    };
  }

private:
  void serve(const incoming_request& request);

  // -- membership

  void join(const incoming_request& request);
  void leave(const peer_identity& who);

  /// Daemons register when they start, and after they have given up all runs.
  void break_off_if_used(const std::string& daemon, const char* what);
  void lose_if_used(const std::string& daemon, error why);
  void check_share(const peer_identity& who);
  void take_in(const peer_identity& who, const join_request& what,
               const responder& reply);
  void on_peer(const peer_event& event);
  void on_lost(const std::optional<membership::entry>& one);
  status_reply status() const;
  result<payload> drain(const payload& data);
  void stop(const payload& data, const responder& reply);
  void stop_daemon(const membership::entry& one, const responder& reply);

  /// The coordinator ends last; without it no daemon is of use.
  void stop_all(const std::string& target, const responder& reply);

  // -- runs

  result<void> check(const definition& def) const;
  result<placement> place_now(const definition& def) const;
  result<payload> submit(const payload& data);
  result<payload> plan(const payload& data) const;
  result<run_record> record_of(const std::string& id) const;
  result<payload> runs(const payload& data) const;

  /// A summary without what grows with stages and daemons, for lists.
  static std::string brief(const std::string& summary);

  /// @param definition YAML, the first time.
  void note(const run_record& record, const std::string& definition = {});
  result<payload> cancel(const payload& data);

  // -- the run that is on

  void start_next();
  static run_outcome failed_before(const error& why);
  void deploy();
  void on_deployed(const std::string& id, const std::string& daemon,
                   const result<payload>& answer);
  void conduct();

  /// Takes the next step of the run once all whom it waits for have answered.
  void go_on();
  void on_ended(const run_ended& ended);

  /// Ends all shares of the run, and files what is left of it.
  void end(run_outcome outcome);
  void on_share_ended(const std::string& id, const std::string& daemon,
                      const result<payload>& answer);
  void close();
  void on_filed(const run_filed& filed);
  result<payload> take_events(const incoming_request& request);
  void rendezvous(const payload& data, const responder& reply);

  // -- watchers and files

  struct watcher {
    watch_request what;
    responder reply;
    clock::time_point until;
  };
  void watch(const payload& data, const responder& reply);
  void answer_watchers(clock::time_point now);
  static result<payload> file(const std::filesystem::path& runs,
                              const payload& data);
  void look_again();
  void look();

  interface::pointer self_;
  coordinator_config config_;
  remote_calls<interface> calls_;
  membership members_;
  run_board board_;
  std::map<std::string, run_record> live_; ///< Runs that are not over.
  std::deque<submitted_run> queue_;
  down_watch deaths_;
  std::optional<active_run> active_;
  std::vector<watcher> watchers_;
  compute_lane lane_; ///< For files. Last: ends before what its jobs use.
};

} // namespace graphmill
