#include "actors/cluster/coordinator.hpp"

#include "actors/cluster/active_run.hpp"
#include "actors/cluster/calls.hpp"
#include "actors/cluster/membership.hpp"
#include "actors/cluster/remote_member.hpp"
#include "actors/cluster/run_board.hpp"
#include "actors/compute_lane.hpp"
#include "actors/member_setup.hpp"
#include "pipelines/definition_file.hpp"
#include "pipelines/validation.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often waiting questions are looked at.
constexpr milliseconds look_interval{100};
/// The longest that a watcher may wait for news.
constexpr milliseconds longest_watch{10'000};

unix_time now_unix() {
  return std::chrono::duration_cast<unix_time>(
    std::chrono::system_clock::now().time_since_epoch());
}

call_options within(milliseconds deadline, milliseconds unreachable,
                    unsigned attempts = 3) {
  call_options out;
  out.deadline = deadline;
  out.unreachable = unreachable;
  out.attempts = attempts;
  return out;
}

class coordinator {
public:
  using interface = coordinator_actor;
  static constexpr const char* name = "coordinator";

  coordinator(interface::pointer self, coordinator_config config)
    : self_(self), config_(std::move(config)), calls_(self, config_.net),
      members_(config_.offer) {
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
  void serve(const incoming_request& request) {
    const auto& data = request.data;
    const auto& reply = request.reply;
    switch (request.method) {
    case method::join:
      join(request);
      break;
    case method::leave:
      members_.leave(request.from.name);
      config_.log->info("daemon {} has left", request.from.name);
      reply.reply(payload{});
      break;
    case method::status:
      reply.reply(encode(status()));
      break;
    case method::submit:
      reply.reply(submit(data));
      break;
    case method::plan:
      reply.reply(plan(data));
      break;
    case method::runs:
      reply.reply(runs(data));
      break;
    case method::watch:
      watch(data, reply);
      break;
    case method::cancel:
      reply.reply(cancel(data));
      break;
    case method::drain:
      reply.reply(drain(data));
      break;
    case method::stop:
      stop(data, reply);
      break;
    case method::fetch_file:
      lane_.post(
        [runs = config_.runs, data, reply] { reply.reply(file(runs, data)); });
      break;
    case method::run_event:
      reply.reply(take_events(request));
      break;
    case method::rendezvous:
      rendezvous(data, reply);
      break;
    default:
      reply.reply(fail(ec::invalid_argument,
                       "a coordinator does not serve `{}`",
                       to_string(request.method)));
    }
  }

  // -- membership
  // -----------------------------------------------------------------

  void join(const incoming_request& request) {
    auto what = decode_join_request(request.data);
    if (!what) {
      request.reply.reply(what.error());
      return;
    }
    const auto& who = request.from;
    if (auto fits = members_.check(who.name, what.value()); !fits) {
      config_.log->warn("refused: {}", fits.error().message);
      request.reply.reply(fits.error());
      return;
    }
    const auto rival = members_.rival_of(who);
    if (!rival || rival->status.address == who.address) {
      take_in(who, what.value(), request.reply);
      return;
    }
    // It may have been killed just now: then nobody answers there.
    calls_.call(rival->status.address, method::status, {},
                within(milliseconds{1500}, milliseconds{1000}, 1),
                [this, who, offer = std::move(what).value(),
                 reply = request.reply, rival](const result<payload>& answer) {
                  const auto dead = !answer
                                    && (answer.error().code == ec::unavailable
                                        || answer.error().code == ec::timeout);
                  if (dead)
                    take_in(who, offer, reply);
                  else
                    reply.reply(fail(
                      ec::invalid_argument,
                      "another daemon at {} has the name \"{}\": give this "
                      "one another --name",
                      rival->status.address, who.name));
                });
  }

  void take_in(const peer_identity& who, const join_request& what,
               const responder& reply) {
    members_.join(who, what);
    calls_.net().keep(who.address);
    config_.log->info("daemon {} at {} has joined with {} part(s)", who.name,
                      who.address, what.parts.size());
    reply.reply(encode(join_reply{calls_.net().self().name}));
    start_next();
  }

  void on_peer(const peer_event& event) {
    if (event.inbound)
      return;
    const auto& address = event.who.address;
    switch (event.what) {
    case peer_event::kind::up:
      if (auto one = members_.back(address, event.who.incarnation))
        config_.log->info("daemon {} is back", one->status.name);
      break;
    case peer_event::kind::lost:
      on_lost(members_.lost(address, event.reason));
      break;
    case peer_event::kind::replaced:
      // The new one registers by itself, perhaps it has done so already.
      if (auto one = members_.outdated(address, event.who.incarnation))
        on_lost(members_.lost(address, "it has been started anew"));
      break;
    default:
      break;
    }
  }

  void on_lost(const std::optional<membership::entry>& one) {
    if (!one)
      return;
    const auto& who = one->status;
    config_.log->warn("daemon {} at {} is lost: {}", who.name, who.address,
                      who.note);
    if (active_ && active_->conductor && active_->uses(who.name))
      post(active_->conductor,
           run_failed{fail(ec::unavailable, "daemon \"{}\" at {} is lost: {}",
                           who.name, who.address, who.note)});
  }

  status_reply status() const {
    status_reply out;
    out.coordinator = calls_.net().self().name;
    out.dataset = config_.offer.dataset;
    out.parts = static_cast<std::uint32_t>(config_.offer.part_digests.size());
    out.daemons = members_.statuses();
    if (active_)
      out.running = active_->id;
    for (const auto& run : queue_)
      out.queued.push_back(run.id);
    return out;
  }

  result<payload> drain(const payload& data) {
    TRY(const auto what, decode_node_request(data));
    TRYV(members_.drain(what.name, !what.back));
    config_.log->info("daemon {} is {}", what.name,
                      what.back ? "in service again" : "draining");
    return payload{};
  }

  void stop(const payload& data, const responder& reply) {
    const auto what = decode_node_request(data);
    if (!what) {
      reply.reply(what.error());
      return;
    }
    const auto& target = what.value().name;
    if (active_ && (target.empty() || active_->uses(target))) {
      reply.reply(fail(ec::invalid_argument,
                       "run {} is on {}: cancel it first, or wait for its end",
                       active_->id, target.empty() ? "here" : "there"));
      return;
    }
    if (target == calls_.net().self().name || target.empty()) {
      stop_all(target, reply);
      return;
    }
    const auto one = members_.find(target);
    if (!one) {
      reply.reply(one.error());
      return;
    }
    stop_daemon(one.value().status, reply);
  }

  void stop_daemon(const daemon_status& who, const responder& reply) {
    members_.leave(who.name);
    calls_.call(
      who.address, method::stop, {},
      within(milliseconds{5000}, milliseconds{2000}, 1),
      [this, address = who.address, reply](const result<payload>& answer) {
        calls_.net().forget(address);
        reply.reply(answer);
      });
  }

  /// The coordinator ends last; without it no daemon is of use.
  void stop_all(const std::string& target, const responder& reply) {
    if (!target.empty() && members_.statuses().size() > 1) {
      reply.reply(fail(ec::invalid_argument,
                       "\"{}\" is the coordinator: stop the other daemons "
                       "first, or all with --all",
                       target));
      return;
    }
    auto left = std::make_shared<std::size_t>(1);
    const auto done = [this, left, reply] {
      if (--*left != 0)
        return;
      reply.reply(payload{});
      if (auto tell = std::exchange(config_.on_stop, {}))
        tell(std::nullopt);
    };
    for (const auto& who : members_.statuses()) {
      if (who.name == calls_.net().self().name
          || who.state == daemon_state::lost)
        continue;
      ++*left;
      calls_.call(who.address, method::stop, {},
                  within(milliseconds{5000}, milliseconds{2000}, 1),
                  [done](const result<payload>&) { done(); });
    }
    done();
  }

  // -- runs
  // -----------------------------------------------------------------------

  result<void> check(const definition& def) const {
    if (def.dataset != config_.offer.dataset)
      return fail(ec::invalid_argument,
                  "the definition is on dataset \"{}\", but this cluster "
                  "serves \"{}\"",
                  def.dataset, config_.offer.dataset);
    if (def.name.empty() || def.name.front() == '.'
        || def.name.find('/') != std::string::npos)
      return fail(ec::invalid_argument, "\"{}\" is no name for a run",
                  def.name);
    return check_against(def, config_.graph->info());
  }

  result<placement> place_now(const definition& def) const {
    const auto offers = members_.offers();
    return place(def, config_.graph->part_count(), offers);
  }

  result<payload> submit(const payload& data) {
    TRY(auto def, decode_definition_body(data));
    TRYV(check(def));
    TRYV(place_now(def));
    submitted_run run;
    TRY(run.file, run_file::create(config_.runs, def, config_.data,
                                   config_.offer.dataset_digest));
    run.id = run.file->id();
    run.def = std::move(def);
    run.record.id = run.id;
    run.record.name = run.def.name;
    run.record.submitted = now_unix();
    config_.log->info("run {} is queued", run.id);
    note(run.record, definition_yaml(run.def));
    const auto id = run.id;
    queue_.push_back(std::move(run));
    start_next();
    return encode_run_id(id);
  }

  result<payload> plan(const payload& data) const {
    TRY(const auto def, decode_definition_body(data));
    TRYV(check(def));
    TRY(const auto where, place_now(def));
    plan_reply out;
    for (auto owner : where.owner_of_part)
      out.daemon_of_part.push_back(where.daemons[owner].name);
    for (auto daemon : where.daemon_of_rank)
      out.daemon_of_rank.push_back(where.daemons[daemon].name);
    return encode(out);
  }

  result<run_record> record_of(const std::string& id) const {
    if (const auto it = live_.find(id); it != live_.end())
      return it->second;
    TRY(auto old, config_.history->get(id));
    if (old)
      return std::move(old->record);
    return fail(ec::not_found,
                "there is no run \"{}\" here; `graphmill runs` lists them", id);
  }

  result<payload> runs(const payload& data) const {
    TRY(const auto what, decode_runs_request(data));
    if (what.run.empty()) {
      TRY(const auto latest, config_.history->latest(what.limit));
      return encode(latest);
    }
    TRY(auto one, record_of(what.run));
    return encode(std::vector{std::move(one)});
  }

  /// @param definition YAML, the first time.
  void note(const run_record& record, const std::string& definition = {}) {
    if (is_over(record.state))
      live_.erase(record.id);
    else
      live_[record.id] = record;
    if (auto kept = config_.history->put(record, definition); !kept)
      config_.log->error("run {}: {}", record.id, kept.error().message);
    answer_watchers(clock::now());
  }

  result<payload> cancel(const payload& data) {
    TRY(const auto what, decode_cancel_request(data));
    const auto queued =
      std::find_if(queue_.begin(), queue_.end(),
                   [&what](const auto& run) { return run.id == what.run; });
    if (queued != queue_.end()) {
      auto record = queued->record;
      record.state = run_state::cancelled;
      record.message = "cancelled before it began";
      record.ended = now_unix();
      queue_.erase(queued);
      note(record);
      return payload{};
    }
    if (active_ && active_->id == what.run) {
      active_->cancelled = true;
      if (active_->conductor)
        post_urgent(active_->conductor, cancel_run{what.now});
      return payload{};
    }
    TRY(const auto record, record_of(what.run));
    return fail(ec::invalid_argument, "run {} is {} already", what.run,
                to_string(record.state));
  }

  // -- the run that is on
  // ----------------------------------------------------------

  void start_next() {
    if (active_ || queue_.empty())
      return;
    active_.emplace();
    static_cast<submitted_run&>(*active_) = std::move(queue_.front());
    queue_.pop_front();
    active_->record.state = run_state::running;
    active_->record.started = now_unix();
    note(active_->record);
    auto where = place_now(active_->def);
    if (!where) {
      end(failed_before(where.error()));
      return;
    }
    active_->where = std::move(where).value();
    deploy();
  }

  static run_outcome failed_before(const error& why) {
    run_outcome out;
    out.failure = why;
    return out;
  }

  void deploy() {
    const auto& daemons = active_->where.daemons;
    active_->awaited = daemons.size();
    config_.log->info("run {}: deploying on {} daemon(s)", active_->id,
                      daemons.size());
    for (std::size_t d = 0; d < daemons.size(); ++d)
      calls_.call(
        daemons[d].address, method::deploy,
        encode(active_->deployment_for(d, config_.offer.dataset_digest,
                                       calls_.net().self().address)),
        within(std::chrono::minutes{5}, milliseconds{5000}, 1),
        [this, id = active_->id, daemon = daemons[d].name](
          const result<payload>& answer) { on_deployed(id, daemon, answer); });
  }

  void on_deployed(const std::string& id, const std::string& daemon,
                   const result<payload>& answer) {
    if (!active_ || active_->id != id || active_->outcome)
      return;
    if (!answer && !active_->why_not)
      active_->why_not = fail(answer.error().code, "daemon \"{}\": {}", daemon,
                              answer.error().message);
    if (--active_->awaited != 0)
      return;
    if (!active_->why_not && active_->cancelled)
      active_->why_not = fail(ec::cancelled, "cancelled before it began");
    if (active_->why_not)
      end(failed_before(*active_->why_not));
    else
      conduct();
  }

  void conduct() {
    run_setup setup;
    setup.def = active_->def;
    const auto& where = active_->where;
    auto lead = conductor_of(setup, *config_.graph,
                             static_cast<rank_id>(where.daemon_of_rank.size()));
    std::vector<remote_member_config> members;
    for (std::uint16_t d = 0; d < where.daemons.size(); ++d)
      if (const auto ranks = where.ranks_of(d); !ranks.empty())
        members.push_back(
          {active_->id, where.daemons[d], ranks.front() == 0, config_.net});
    lead.members = [members](caf::actor_system& system,
                             const run_reports_actor& reports) {
      std::vector<member_actor> out;
      for (const auto& one : members)
        out.push_back(spawn_remote_member(system, one, reports));
      return out;
    };
    lead.observer = observer_of(*active_, handle_of<interface>(self_));
    active_->began = clock::now();
    active_->conductor = spawn_conductor(self_->home_system(), std::move(lead));
    post(active_->conductor, start_run{});
    config_.log->info("run {}: begun", active_->id);
  }

  void on_ended(const run_ended& ended) {
    if (active_ && active_->id == ended.run && !active_->outcome)
      end(std::move(*ended.outcome));
  }

  /// Ends all shares of the run, and files what is left of it.
  void end(run_outcome outcome) {
    active_->outcome = std::move(outcome);
    active_->seconds =
      std::chrono::duration<double>(clock::now() - active_->began).count();
    stop_actor(active_->conductor);
    active_->conductor = nullptr;
    const auto& daemons = active_->where.daemons;
    active_->awaited = daemons.size() + 1;
    for (const auto& daemon : daemons)
      calls_.call(daemon.address, method::order,
                  encode(member_order{active_->id, member_action::end}),
                  within(milliseconds{60'000}, milliseconds{2000}),
                  [this, id = active_->id,
                   daemon = daemon.name](const result<payload>& answer) {
                    on_share_ended(id, daemon, answer);
                  });
    one_share_less();
  }

  void on_share_ended(const std::string& id, const std::string& daemon,
                      const result<payload>& answer) {
    if (!active_ || active_->id != id)
      return;
    auto report = answer ? decode_member_reply(answer.value())
                         : result<member_reply>{answer.error()};
    if (report)
      active_->file->add(daemon, report.value());
    else
      config_.log->warn("run {}: daemon {} did not end its share: {}", id,
                        daemon, report.error().message);
    one_share_less();
  }

  void one_share_less() {
    if (--active_->awaited != 0)
      return;
    active_->answer_questions(clock::time_point::max());
    lane_.post([me = handle_of<interface>(self_), file = active_->file,
                outcome = *active_->outcome, seconds = active_->seconds] {
      post(me, run_filed{file->close(outcome, seconds)});
    });
  }

  void on_filed(const run_filed& filed) {
    auto record = active_->record;
    record.state = filed.record.state;
    record.message = filed.record.message;
    record.summary = filed.record.summary;
    record.ended = now_unix();
    config_.log->info("run {}: {}{}{}", record.id, to_string(record.state),
                      record.message.empty() ? "" : ": ", record.message);
    active_.reset();
    note(record);
    start_next();
  }

  result<payload> take_events(const incoming_request& request) {
    TRY(const auto events, decode_run_events(request.data));
    if (!active_ || active_->id != events.run)
      return fail(ec::not_found, "run {} is not on", events.run);
    TRYV(active_->take(request.from.name, events));
    return payload{};
  }

  void rendezvous(const payload& data, const responder& reply) {
    const auto what = decode_rendezvous_request(data);
    if (!what)
      reply.reply(what.error());
    else if (!active_ || active_->id != what.value().run)
      reply.reply(fail(ec::not_found, "run {} is not on", what.value().run));
    else
      active_->take(what.value(), reply);
  }

  // -- watchers and files
  // -----------------------------------------------------------

  struct watcher {
    watch_request what;
    responder reply;
    clock::time_point until;
  };

  void watch(const payload& data, const responder& reply) {
    auto what = decode_watch_request(data);
    if (!what) {
      reply.reply(what.error());
      return;
    }
    const auto wait = std::min(what.value().wait, longest_watch);
    watchers_.push_back({std::move(what).value(), reply, clock::now() + wait});
    answer_watchers(clock::now());
  }

  void answer_watchers(clock::time_point now) {
    std::erase_if(watchers_, [this, now](const watcher& one) {
      auto record = record_of(one.what.run);
      if (!record) {
        one.reply.reply(record.error());
        return true;
      }
      watch_reply out;
      std::tie(out.next, out.events) =
        board_.since(one.what.run, one.what.cursor);
      if (out.events.empty() && !is_over(record.value().state)
          && now < one.until)
        return false;
      out.record = std::move(record).value();
      one.reply.reply(encode(out));
      return true;
    });
  }

  static result<payload> file(const std::filesystem::path& runs,
                              const payload& data) {
    TRY(const auto wanted, decode_file_request(data));
    TRY(const auto piece, read_run_file(runs, wanted));
    return encode(piece);
  }

  void look_again() {
    post_later(handle_of<interface>(self_), look_interval, tick{});
  }

  void look() {
    look_again();
    const auto now = clock::now();
    answer_watchers(now);
    if (active_)
      active_->answer_questions(now);
  }

  interface::pointer self_;
  coordinator_config config_;
  remote_calls<interface> calls_;
  membership members_;
  run_board board_;
  std::map<std::string, run_record> live_; ///< Runs that are not over.
  std::deque<submitted_run> queue_;
  std::optional<active_run> active_;
  std::vector<watcher> watchers_;
  compute_lane lane_; ///< For files. Last: ends before what its jobs use.
};

} // namespace

coordinator_actor spawn_coordinator(caf::actor_system& system,
                                    coordinator_config config) {
  return spawn_state<coordinator>(system, std::move(config));
}

} // namespace graphmill
