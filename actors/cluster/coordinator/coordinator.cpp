#include "actors/cluster/coordinator/coordinator.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/base/guarded_service.hpp"
#include "actors/cluster/coordinator/figures_sampler.hpp"
#include "actors/cluster/coordinator/leading/conducting.hpp"
#include "actors/cluster/coordinator/leading/restored_runs.hpp"
#include "actors/cluster/coordinator/leading/run_leader.hpp"
#include "actors/cluster/coordinator/leading/run_places.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/leading/submissions.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/cluster_logs.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/operator_requests.hpp"
#include "actors/cluster/coordinator/outside/actor_port.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/records/feed_ends.hpp"
#include "actors/cluster/coordinator/records/file_service.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/records/run_watchers.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/history/run_history.hpp"
#include "actors/remote/serving/fair_queue.hpp"
#include "actors/transport/sessions/client_limits.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/dataset/shard.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Runs of former times that are shown; more are listed by `graphmill runs`.
constexpr std::uint32_t recalled_runs = 100;

/// The state of the COORDINATOR: owns the objects that do its work, gives each
/// message to the one that it is for, and tells them apart what follows for
/// the others.
class coordinator {
public:
  using clock = std::chrono::steady_clock;
  using interface = coordinator_actor;
  static constexpr const char* name = "coordinator";

  coordinator(interface::pointer self, coordinator_config config);

  ~coordinator() {
    leader_.let_go();
    port_.end_threads();
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const incoming& in) { queue(in.request); },
      [this](const peer_news& news) { on_peer(news.event); },
      [this](const run_news_came& came) {
        if (active_.find(came.run))
          watchers_.board().add(came.run, came.news);
        watchers_.look(clock::now());
      },
      [this](const run_ended& ended) {
        leader_.conducted(ended.run, ended.attempt, std::move(*ended.outcome));
      },
      [this](const successor_named& by) {
        lead_.doubt(by.daemon, by.said, {});
      },
      [this](const end_orderly&) { end_cluster(); },
      [this](const call_ended& ended) { port_.ended(ended); },
      [this](const next_request&) { serve_next(); },
      [this](const coordinator_tick&) { look(); },
    };
  }

  /// A handler has thrown: the runs that are on fail, for it may have been
  /// about any of them, and the cluster stays. If none is on, or they end
  /// already, the coordinator ends: the next one goes on with what the history
  /// has.
  bool crashed(const caf::error& reason) {
    return leader_.crashed(from_caf(reason, "the coordinator"));
  }

private:
  void queue(const incoming_request& request);
  void serve_next();
  incoming_request audited(incoming_request request) const;
  void serve(const incoming_request& request);
  bool serve_onlooker(const incoming_request& request);
  void on_peer(const peer_event& event);
  void end_cluster();
  void end_if_done();
  void look();
  void look_at_lead();

  interface::pointer self_;
  coordinator_config config_;
  actor_port port_{self_, config_.net, config_.watch != nullptr};
  cluster_notices notices_{config_, port_.self().name};
  fair_queue<incoming_request> line_; ///< By incarnation.
  active_runs active_;
  cluster_daemons daemons_{
    port_,
    notices_,
    config_,
    {[this](const std::string& daemon, const error& reason) {
       leader_.lose(daemon, reason);
     },
     [this](const peer_identity& who) { leader_.check_shares(who); },
     [this](const std::string& daemon, bool anew) {
       if (anew)
         logs_.forget(daemon);
       queue_.daemon_returned(daemon);
     },
     [this] { starter_.start(); },
     [this](const std::string& daemon) { return active_.needing(daemon); }}};
  lead_guard lead_{port_,
                   notices_,
                   daemons_.registry(),
                   config_,
                   {[this](const error& reason) {
                      starter_.close();
                      leader_.let_go();
                      if (auto tell = std::exchange(config_.on_stop, {}))
                        tell(reason);
                    },
                    [this](const std::string& daemon, const error& reason) {
                      leader_.lose(daemon, reason);
                    }}};
  run_archive archive_{port_,
                       notices_,
                       lead_,
                       config_.history,
                       config_.lock,
                       {[this] { watchers_.look(clock::now()); },
                        [this](bool done) {
                          if (done)
                            leader_.recorded();
                          starter_.start();
                          end_if_done();
                        }}};
  run_watchers watchers_{archive_, config_.history->generation()};
  file_service files_{port_, config_.runs,
                      uploads_in(config_.runs, config_.history->generation())};
  cluster_logs logs_{port_, daemons_.registry(), config_.logs};
  leading_parts parts_{config_,  port_,    notices_,  lead_,
                       daemons_, archive_, watchers_, active_};
  run_queue queue_;
  run_places places_{daemons_.registry(), active_, config_.graph->part_count()};
  run_starter starter_{parts_,
                       queue_,
                       places_,
                       {[this](const run_ptr& run, placement where) {
                          leader_.begin(run, std::move(where));
                        },
                        [this](const run_ptr& run, const error& reason) {
                          leader_.give_up(run, reason);
                        }}};
  run_leader leader_{
    parts_,
    queue_,
    starter_,
    places_,
    {[this](submitted_run& run) { conducting_.begin(run); },
     [this] { end_if_done(); },
     [this](const std::string& run, const std::optional<error>& failure) {
       feeds_.note(run, failure);
     }}};
  feed_ends feeds_{archive_};
  submissions submissions_{parts_,   files_,  queue_,
                           starter_, places_, [this] { end_if_done(); }};
  operator_requests operators_{parts_, leader_, starter_,
                               [this] { end_cluster(); }};
  figures_sampler figures_{parts_, queue_};
  conducting conducting_{
    self_, config_, notices_,
    [this](const std::string& run, std::uint32_t attempt, const error& reason) {
      leader_.conductor_ended(run, attempt, reason);
    }};
  clock::time_point touch_at_{};
};

coordinator::coordinator(interface::pointer self, coordinator_config config)
  : self_(self), config_(std::move(config)) {
  notices_.recall_runs(*config_.history, recalled_runs);
  post_later(handle_of<interface>(self_), timeouts::question_look,
             coordinator_tick{});
  if (const auto cleared = clear_uploads(config_.runs); !cleared)
    notices_.log().warn("{}", cleared.error().message);
  restore_runs(parts_, queue_, submissions_.resumed_place());
  daemons_.keys().note();
}

// -- requests

/// Requests wait in a line for each client, who take turns: whoever asks much
/// waits for itself. The mailbox holds no more than what has just come. What
/// the daemons of a run that is on tell of it stands in no line, and nor does
/// what others pretend to tell of it and is refused unread: it is large.
void coordinator::queue(const incoming_request& request) {
  const auto is_of_run = class_of(request.method) == request_class::of_runs
                         && active_.first([&request](const auto& run) {
                              return run.is_member(request.from);
                            });
  if (is_of_run || request.method == method::health_report) {
    guarded_service(audited(request), notices_.complaints(),
                    [this](const auto& told) { serve(told); });
    return;
  }
  line_.push(request.from.incarnation, audited(request));
  post(handle_of<interface>(self_), next_request{});
}

void coordinator::serve_next() {
  if (line_.empty())
    return;
  guarded_service(line_.pop(), notices_.complaints(),
                  [this](const auto& request) { serve(request); });
}

/// The same request, whose answer is noted if it is worth it.
incoming_request coordinator::audited(incoming_request request) const {
  if (!config_.audit)
    return request;
  auto noted = request;
  noted.reply = {};
  request.reply = responder{[audit = config_.audit, noted = std::move(noted),
                             reply = request.reply](result<payload> answer) {
    if (auto entry = audit_of(noted, answer))
      audit->add(*std::move(entry));
    reply.reply(std::move(answer));
  }};
  return request;
}

/// Of what changes nothing.
/// @returns whether it was that.
bool coordinator::serve_onlooker(const incoming_request& request) {
  const auto& data = request.data;
  const auto& reply = request.reply;
  switch (request.method) {
  case method::status:
    reply.reply(encode(figures_.status()));
    break;
  case method::plan:
    reply.reply(submissions_.plan(data));
    break;
  case method::health:
    reply.reply(figures_.health(data));
    break;
  case method::logs:
    reply.reply(logs_.lines(data));
    break;
  case method::events:
    reply.reply(notices_.events(data));
    break;
  case method::runs:
    archive_.list(data, reply);
    break;
  case method::watch:
    watchers_.watch(data, reply);
    break;
  case method::fetch_file:
    files_.fetch(data, reply);
    break;
  case method::trace:
    logs_.trace(data, reply);
    break;
  default:
    return false;
  }
  return true;
}

void coordinator::serve(const incoming_request& request) {
  const auto& data = request.data;
  const auto& reply = request.reply;
  if (serve_onlooker(request))
    return;
  switch (request.method) {
  case method::join:
    daemons_.join(request);
    break;
  case method::leave:
    leader_.leave(request);
    break;
  case method::submit:
    submissions_.submit(request);
    break;
  case method::feed:
    leader_.end_feeds_of(request.from.name);
    submissions_.feed(request);
    break;
  case method::feed_state:
    feeds_.tell(data, reply);
    break;
  case method::cancel:
    operators_.cancel(data, reply);
    break;
  case method::drain:
    reply.reply(operators_.drain(data));
    break;
  case method::stop:
    operators_.stop(data, reply);
    break;
  case method::chaos:
    operators_.chaos(data, reply);
    break;
  case method::upload:
    files_.upload(request);
    break;
  case method::health_report:
    reply.reply(figures_.take_report(request));
    break;
  case method::run_event:
    reply.reply(leader_.take_events(request));
    break;
  case method::rendezvous:
    leader_.rendezvous(request);
    break;
  default:
    reply.reply(fail(ec::invalid_argument, "a coordinator does not serve `{}`",
                     to_string(request.method)));
  }
}

void coordinator::on_peer(const peer_event& event) {
  using kind = peer_event::kind;
  if (!event.inbound)
    daemons_.on_peer(event);
  else if (event.change == kind::lost || event.change == kind::left)
    files_.give_up(event.identity.incarnation);
}

// -- the end

/// Ends what is on as a user would, then the coordinator.
void coordinator::end_cluster() {
  if (starter_.is_closed())
    return;
  starter_.close();
  if (const auto left = queue_.all().size(); left != 0)
    notices_.log().info("left in the queue for the next coordinator: {}",
                        pluralized(left, "run"));
  queue_.clear();
  leader_.cancel_all();
  end_if_done();
}

/// Tells that the coordinator may end once nothing is on and all is written,
/// or cannot be.
void coordinator::end_if_done() {
  if (!starter_.is_closed() || !active_.empty() || submissions_.any()
      || !(archive_.all_written() || archive_.failure()))
    return;
  if (auto tell = std::exchange(config_.on_stop, {}))
    tell(std::nullopt);
}

// -- time

void coordinator::look() {
  post_later(handle_of<interface>(self_), timeouts::question_look,
             coordinator_tick{});
  const auto now = clock::now();
  notices_.look(now);
  if (config_.audit)
    config_.audit->look();
  daemons_.look(now);
  watchers_.look(now);
  figures_.look(now, starter_.is_closed());
  logs_.collect(now);
  daemons_.keys().look(now);
  leader_.look(now);
  archive_.look(now);
  starter_.look(now);
  files_.look(now);
  if (now < touch_at_)
    return;
  touch_at_ = now + timeouts::life_sign;
  look_at_lead();
}

void coordinator::look_at_lead() {
  lead_.look_at_lock(!active_.empty() || !queue_.all().empty());
  std::vector<lead_guard::share_check> on;
  for (const auto& run : active_.all()) {
    if (run->life.is_over())
      continue;
    member_request question{run->id, member_action::check};
    question.attempt = run->attempts;
    on.push_back({question, run->on.where.daemons});
  }
  lead_.look_for_successor(on);
}

} // namespace

coordinator_actor spawn_coordinator(caf::actor_system& system,
                                    coordinator_config config) {
  return spawn_state<coordinator>(system, std::move(config));
}

} // namespace graphmill
