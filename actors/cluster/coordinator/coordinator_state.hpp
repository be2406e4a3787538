#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/base/missed_time.hpp"
#include "actors/cluster/audit/noted_members.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/base/guarded_service.hpp"
#include "actors/cluster/base/tensor_pieces.hpp"
#include "actors/cluster/coordinator/coordinator.hpp"
#include "actors/cluster/coordinator/coordinator_parts.hpp"
#include "actors/cluster/coordinator/members/coordinator_limits.hpp"
#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/members/unreached_joins.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/checkpoint_uploads.hpp"
#include "actors/cluster/coordinator/runs/health_reports.hpp"
#include "actors/cluster/coordinator/runs/queue_pass.hpp"
#include "actors/cluster/health/log_collector.hpp"
#include "actors/cluster/history/run_board.hpp"
#include "actors/cluster/history/run_records.hpp"
#include "actors/cluster/recovery/kept_offers.hpp"
#include "actors/remote/serving/fair_queue.hpp"

#include <spdlog/logger.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace graphmill {

/// The state of the COORDINATOR. Who is in the cluster stands in
/// coordinator_daemons.cpp, what operators have daemons do in
/// coordinator_operators.cpp, whose keys let in in coordinator_members.cpp, how
/// it takes and queues runs in coordinator_runs.cpp, with what they go on in
/// coordinator_resumption.cpp, how they leave the queue in
/// coordinator_queue.cpp, what it keeps and tells of them in
/// coordinator_records.cpp, what goes from and to clients as files in
/// coordinator_files.cpp, what it leaves for HTTP in coordinator_figures.cpp,
/// what daemons log in coordinator_logs.cpp, how it has daemons tell what their
/// actors did in coordinator_traces.cpp, how it leads those that are on in
/// coordinator_active_run.cpp, what their daemons tell and whom it does not
/// believe in coordinator_events.cpp, what it does when one has lost a daemon
/// in coordinator_recovery.cpp, how it finds what daemons have kept of it in
/// coordinator_kept.cpp, what it does when a number of trainers may change in
/// coordinator_sizes.cpp, and how one coordinator follows another in
/// coordinator_restart.cpp.
///
/// Several runs may be on. A handler that is about one holds it by a `run_ptr`:
/// whatever it has the run do may take it from `active_`.
class coordinator {
public:
  using clock = std::chrono::steady_clock;
  using interface = coordinator_actor;
  using run_ptr = active_runs::run_ptr;
  static constexpr const char* name = "coordinator";

  coordinator(interface::pointer self, coordinator_config config)
    : self_(self), config_(std::move(config)), calls_(self, config_.net),
      registry_(config_.offer) {
    if (config_.watch)
      members_thread_.emplace();
    if (config_.watch && config_.audit)
      noted_members_ = std::make_shared<noted_members>(config_.runs);
    deaths_.install(self_);
    recall_runs();
    look_again();
    if (const auto cleared = clear_uploads(config_.runs); !cleared)
      config_.log->warn("{}", cleared.error().message);
    restore();
    note_members();
  }

  ~coordinator() {
    for (const auto& run : active_.all())
      stop_actor(run->conductor);
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const incoming& in) { queue(in.request); },
      [this](const peer_news& news) { on_peer(news.event); },
      [this](const run_news_came& came) {
        if (active_.find(came.run))
          board_.add(came.run, came.news);
        answer_watchers(clock::now());
      },
      [this](const run_ended& ended) { on_ended(ended); },
      [this](const successor_named& by) { doubt(by.daemon, by.said, {}); },
      [this](const call_ended& ended) { calls_.ended(ended); },
      [this](const run_taken& taken) { on_taken(taken); },
      [this](const run_rewound& back) { on_rewound(back); },
      [this](const run_filed& filed) { on_filed(filed); },
      [this](const records_written& done) { on_written(done); },
      [this](const members_read& read) { on_members(read); },
      [this](const end_orderly&) { end_cluster(); },
      [this](const next_request&) { serve_next(); },
      [this](const tick&) { look(); },
    };
  }

  /// A handler has thrown: the runs that are on fail, for it may have been
  /// about any of them, and the cluster stays. If none is on, or they end
  /// already, the coordinator ends: the next one goes on with what the history
  /// has.
  bool crashed(const caf::error& reason);

private:
  void queue(const incoming_request& request);
  void serve_next();
  incoming_request audited(incoming_request request) const;
  void serve(const incoming_request& request);
  bool serve_onlooker(const incoming_request& request);

  // -- daemons of the cluster

  void join(const incoming_request& request);
  void reach(unreached_joins::join asked);
  void admit(const unreached_joins::join& reached);
  void on_met(const peer_identity& identity);
  void refuse_unreached(clock::time_point now);
  void forget(const std::string& address);
  void leave(const incoming_request& request);
  void let_go(const std::string& daemon, const std::string& incarnation);

  /// Daemons register when they start, and after they have given up all runs.
  void break_off_if_used(const std::string& daemon, const char* event);
  void lose_if_used(const std::string& daemon, const error& reason);
  void lose(const run_ptr& run, const std::string& daemon, const error& reason);
  void check_share(const peer_identity& identity);
  void take_in(const peer_identity& identity, const join_request& request,
               const responder& reply);
  void on_peer(const peer_event& event);
  void on_lost(const std::optional<daemon_registry::entry>& daemon);
  status_reply status() const;
  result<payload> drain(const payload& data);
  void stop(const payload& data, const responder& reply);
  void stop_daemon(const daemon_registry::entry& daemon,
                   const responder& reply);

  result<void> check_moment(const std::string& daemon, moment at) const;
  void chaos(const payload& data, const responder& reply);
  /// The coordinator ends last; without it no daemon is of use.
  void stop_all(const std::string& target, const responder& reply);
  /// Ends what is on as a user would, then the coordinator.
  void end_cluster();
  void end_if_done();
  // -- their keys, where these have roles

  void look_at_members(clock::time_point now);
  void on_members(const members_read& read);
  void note_members();
  void admit_members();
  std::vector<key_holder> daemon_keys() const;
  bool has_member_key(const peer_identity& identity) const;
  std::string key_of(const std::string& daemon) const;
  void tell_members(const std::string& name);

  // -- runs

  result<void> check(const definition& def) const;
  static result<void> check_view(const submitted_run& run);
  result<placement> place_among(const definition& def,
                                daemon_state up_to) const;
  result<placement> place_now(const definition& def) const;
  result<void> check_names(const definition& def) const;
  result<void> submit(const incoming_request& request);
  result<void> check_queue(const std::string& home) const;
  /// What a run goes on with, if anything.
  struct resumption {
    resume_request wanted;
    checkpoint_uploads::folder_ptr uploaded; ///< Instead of a run.
    std::shared_ptr<void> place;             ///< Among those that do.
  };
  result<resumption> resumption_of(const incoming_request& request);
  static result<std::optional<checkpoint>>
  checkpoint_before(const coordinator_config& config,
                    const partitioned_graph& graph, const definition& def,
                    const resumption& from);
  static result<submitted_run> take_run(const coordinator_config& config,
                                        submitted_run run,
                                        const resumption& from);
  /// Whether a run was trained on the dataset of this cluster.
  static result<void> check_dataset(const coordinator_config& config,
                                    const std::string& digest);
  void on_taken(const run_taken& taken);
  void give_up(run_record record);
  result<payload> plan(const payload& data) const;
  void cancel(const payload& data, const responder& reply);

  // -- records

  using question = std::function<result<payload>(run_history&)>;
  using run_question = std::function<result<payload>(run_record)>;
  void ask_history(const responder& reply, question asked);
  void ask_run(const std::string& id, const responder& reply,
               run_question asked);
  void note(const run_record& record);
  void note_standing(const submitted_run& run,
                     std::vector<std::string> daemons = {});
  void write_records();
  void on_written(const records_written& done);
  void runs(const payload& data, const responder& reply);

  // -- one coordinator after another

  void restore();
  result<void> restore(submitted_run& run, const std::string& yaml) const;
  bool awaits_daemons(submitted_run& run);
  void forget_returning(const std::string& daemon);
  void make_up_for_stop(clock::time_point now);
  bool gives_way(const error& reason);
  using calls = remote_calls<interface>;
  void ask_daemon(const daemon_address& daemon, method what, payload data,
                  const call_options& how, calls::callback then);
  void doubt(const daemon_address& daemon, const error& said,
             const calls::callback& then);
  void look_for_successor();
  void look_at_lock(bool busy);

  // -- the runs that are on

  void start_next();
  void start_from_queue();
  queue_pass pass_over_queue() const;
  bool begin_next(queue_pass& pass, std::deque<submitted_run>::iterator next);
  void begin(submitted_run next, placement where);
  void take_seats(const run_ptr& run, placement where);
  void begin_if_written();
  void wait_on(submitted_run& run, const error& reason, bool held_up = false);
  void wait_for_place();
  void look_at_queue(clock::time_point now);
  result<placement> place_beside(const definition& def,
                                 const active_run* but) const;
  definition wanted_of(const submitted_run& run) const;
  error without_place() const;
  error without_slots() const;
  std::vector<daemon_offer> free_offers(const active_run* but) const;
  std::vector<std::string> names_beside(const active_run& run) const;
  void deploy(const run_ptr& run);
  void on_deployed(const run_ptr& run, const std::string& daemon,
                   const result<payload>& answer);
  void conduct(const run_ptr& run);
  void conductor_gone(const run_ptr& run, const error& reason);
  bool go_on_without(const run_ptr& run, const std::string& daemon,
                     const error& reason);
  void go_on(const run_ptr& run, run_turn::task next);
  void on_ended(const run_ended& ended);

  /// Has all shares of the run end.
  void end(const run_ptr& run);
  void end_shares(const run_ptr& run, member_action how);
  void on_share_ended(const run_ptr& run, const std::string& daemon,
                      const result<payload>& answer);
  void distrust(const active_run& run, const std::vector<std::string>& daemons,
                const std::string& by);
  void close(const run_ptr& run);
  void on_filed(const run_filed& filed);
  result<payload> take_events(const incoming_request& request);
  result<payload> take_health(const incoming_request& request);
  result<payload> tell_health(const payload& data) const;
  void trace(const payload& data, const responder& reply);
  void leave_figures(clock::time_point now);
  void recall_runs();
  void tell_of(const run_record& run);
  void tell(event_kind kind, const std::string& daemon, std::string text,
            const std::string& run = {});
  void tell_runs(event_kind kind, const std::string& daemon,
                 const std::string& text);
  void tell_coming(event_kind kind, const std::string& daemon,
                   const std::string& what);
  log_outlets outlets_of(const std::string& run) const;
  std::shared_ptr<spdlog::logger> log_of(const std::string& run) const;
  void collect_logs(clock::time_point now);
  result<payload> tell_logs(const payload& data);
  result<payload> tell_of_events(const payload& data) const;
  std::string not_ready() const;
  void look_at_disk(clock::time_point now);
  void rendezvous(const incoming_request& request);
  void let_leavers_go();

  // -- the next attempt of a run that has lost a daemon

  void recover(const run_ptr& run);
  void attempt_later(const run_ptr& run, std::optional<training_state> found);
  void take_place(submitted_run run);
  void attempt_again(const run_ptr& run);
  void rewind(const run_ptr& run);
  void on_rewound(const run_rewound& back);
  void recall_news(const active_run& run);
  /// Ends a run that waits for its next attempt.
  void conclude(submitted_run run, const error& reason, bool cancelled);
  void give_up_waiting(clock::time_point now);

  // -- a run whose number of trainers may change

  void wait_for_trainers(const active_run& before, submitted_run& run);
  bool awaits_trainers(submitted_run& run, const placement& where);
  void grow();
  void pause(const run_ptr& run, training_state state);
  void go_on_paused(const run_ptr& run);
  bool place_anew(const run_ptr& run);
  void tell_sizes(const run_ptr& run);

  // -- what daemons have kept of a run

  using kept_taker =
    std::function<void(const run_ptr&, std::optional<training_state>)>;
  using search_ptr = std::shared_ptr<kept_search>;
  void search_kept(const run_ptr& run, kept_taker then);
  void ask_for_kept(const run_ptr& run);
  run_ptr run_of(const search_ptr& search) const;
  void take_offer(const active_run& run, kept_offer offer) const;
  void choose_kept(const run_ptr& run);
  void try_offer(const run_ptr& run);
  void fetch_kept(const run_ptr& run);
  void pass_over(const run_ptr& run, const error& reason);
  void end_search(const run_ptr& run, std::optional<training_state> found);
  void break_search_off(const run_ptr& run);

  // -- watchers and files

  void watch(const payload& data, const responder& reply);
  bool answer(const waiting_watcher& waiting, clock::time_point now) const;
  void answer_watchers(clock::time_point now);

  bool has_room_for_files(const responder& reply);
  void fetch_file(const payload& data, const responder& reply);
  static result<payload> file(const std::filesystem::path& runs,
                              const payload& data);
  void upload(const incoming_request& request);
  void drop(checkpoint_uploads::folder_ptr upload);
  void drop_overdue_uploads(clock::time_point now);

  void look_again();
  void look();

  interface::pointer self_;
  coordinator_config config_;
  calls calls_;
  complaint_log complaints_{
    [this](const auto& line) { config_.log->warn("{}", line); }};
  /// Daemons that come and go, by name: one that does so in a loop does not
  /// fill the log.
  complaint_log comings_{
    [this](const auto& line) { config_.log->info("{}", line); },
    coordinator_limits::told_daemons};
  fair_queue<incoming_request> line_; ///< By incarnation.
  daemon_registry registry_;
  health_reports reports_;
  unreached_joins joins_;
  /// Watchers know positions of coordinators before this one.
  run_board board_{config_.history->generation() << 32};
  log_collector logs_{config_.logs};
  std::array<std::uint64_t, 3> over_{}; ///< Runs, as in `cluster_figures`.
  std::shared_ptr<disk_room> disk_ = std::make_shared<disk_room>();
  std::shared_ptr<stand_in_names> stand_ins_ =
    std::make_shared<stand_in_names>();
  clock::time_point leave_figures_{};
  clock::time_point look_at_disk_{};
  run_records records_;
  std::deque<submitted_run> queue_;
  std::int64_t next_place_ = 0; ///< In the queue.
  bool superseded_ = false;     ///< Another coordinator leads the cluster.
  std::multiset<std::string> taking_; ///< Hosts of runs that will be in it.
  /// Shared by all runs that go on with others, so that it counts them.
  std::shared_ptr<int> resumed_ = std::make_shared<int>(0);
  bool ending_ = false;
  clock::time_point write_at_{}; ///< Not before: the disk may be full.
  clock::time_point touch_at_{};
  missed_time missed_;           ///< Between two looks at the time.
  clock::time_point start_at_{}; ///< No run before.
  clock::time_point look_at_members_{};
  bool looking_at_members_ = false;
  /// Null unless they are audited. Its thread for them uses it.
  std::shared_ptr<noted_members> noted_members_;
  std::set<std::string> untold_; ///< Daemons that did not hear of new keys.
  down_watch deaths_;
  active_runs active_;
  std::vector<farewell> leaving_; ///< Daemons that runs need still.
  std::vector<waiting_watcher> watchers_;
  checkpoint_uploads uploads_{
    uploads_in(config_.runs, config_.history->generation())};
  // Threads for files, for the history, and for the members file. Last: they
  // end before what their jobs use.
  compute_thread thread_{
    gauge_in(self_->home_system(), "the coordinator's thread for files")};
  compute_thread history_thread_{
    gauge_in(self_->home_system(), "the coordinator's thread for its history")};
  std::optional<compute_thread> members_thread_;
};

} // namespace graphmill
