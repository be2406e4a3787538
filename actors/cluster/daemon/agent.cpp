#include "actors/cluster/daemon/agent.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/base/generation_fence.hpp"
#include "actors/cluster/base/guarded_service.hpp"
#include "actors/cluster/daemon/known_keys.hpp"
#include "actors/cluster/daemon/registration.hpp"
#include "actors/cluster/daemon/shares/share_host.hpp"
#include "actors/cluster/daemon/shares/share_keeper.hpp"
#include "actors/cluster/daemon/shares/share_orders.hpp"
#include "actors/cluster/daemon/shares/share_reports.hpp"
#include "actors/cluster/daemon/shares/share_traces.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

class agent {
public:
  using interface = agent_actor;
  static constexpr const char* name = "agent";

  agent(interface::pointer self, agent_config config)
    : self_(self), config_(std::move(config)), calls_(self, config_.around.net),
      reports_(hosted_, config_.around,
               [self] { return long_work_in(self->home_system()); }),
      traces_(hosted_, config_.around.net->self().name),
      keeper_(self, hosted_, config_.log),
      shares_(self, {config_, hosted_, next_, keeper_, reports_, traces_}),
      orders_(self, shares_,
              {config_, hosted_, next_, keeper_, reports_, traces_}) {
    addresses_.push_back(config_.coordinator);
    addresses_.insert(addresses_.end(), config_.stand_ins.begin(),
                      config_.stand_ins.end());
    keep_coordinators();
    register_if_due();
    look_again();
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const incoming& in) {
        guarded_service(in.request, complaints_,
                        [this](const auto& request) { serve(request); });
      },
      [this](const peer_news& news) { on_peer(news.event); },
      [this](const call_ended& ended) { calls_.ended(ended); },
      [this](const run_prepared& done) {
        shares_.begin(done);
        if (!*done.member)
          look_at_data_soon();
      },
      [this](const share_ready& ready) { shares_.on_ready(ready); },
      [this](const share_verified& done) { shares_.verified(done); },
      [this](const run_orphaned& lost) { on_orphaned(lost); },
      [this](const data_seen& seen) { on_data(seen.sound); },
      [this](const tick&) { look(); },
    };
  }

  /// A handler has thrown: what is on here fails, and the daemon stays.
  bool crashed(const caf::error& reason) {
    const auto thrown = from_caf(reason, "the agent");
    complaints_.add(thrown.message, clock::now());
    shares_.fail_all(thrown);
    return true;
  }

private:
  // -- its place in the cluster

  void register_if_due() {
    if (!registered_.due(clock::now()))
      return;
    calls_.call(config_.coordinator, method::join, encode(config_.offer),
                within(timeouts::question, timeouts::question_unreachable),
                [this](const result<payload>& answer) { joined(answer); });
  }

  void joined(const result<payload>& answer) {
    const auto refused = registered_.answered(
      answer ? ok() : result<void>{answer.error()}, clock::now());
    if (refused)
      stop(fail(refused->code, "the coordinator at {} refuses this daemon: {}",
                config_.coordinator, refused->message));
    if (!answer) {
      tell_of_silence(answer.error());
      return;
    }
    if (const auto reply = decode_join_reply(answer.value()))
      meet(reply.value().members);
    config_.log->info("in the cluster of {}", config_.coordinator);
    if (auto tell = std::exchange(config_.on_joined, {}))
      tell();
  }

  /// Who has mistyped an address is not to wait without a word.
  void tell_of_silence(const error& why) {
    if (registered_.now() == registration::state::applying
        && !std::exchange(told_of_silence_, true))
      config_.log->warn(
        "the coordinator at {} does not answer: {}; trying again for {} s",
        config_.coordinator, why.message,
        std::chrono::ceil<std::chrono::seconds>(config_.join_timeout).count());
  }

  /// Lets in the daemons of the cluster, and nobody else but the coordinator.
  void meet(std::vector<key_holder> daemons) {
    if (!config_.admitted)
      return;
    keys_.hear(std::move(daemons));
    calls_.net().admit(keys_.with(*config_.admitted));
  }

  void meet(const payload& data) {
    const auto assignment = decode_deployment(data);
    if (!config_.admitted || !assignment)
      return;
    keys_.begin(assignment.value(), *config_.admitted);
    calls_.net().admit(keys_.with(*config_.admitted));
  }

  void on_peer(const peer_event& event) {
    const auto& who = event.identity;
    if (event.inbound
        || std::find(addresses_.begin(), addresses_.end(), who.address)
             == addresses_.end())
      return;
    if (event.change == peer_event::kind::up
        || event.change == peer_event::kind::replaced)
      on_coordinator(who);
    else if (event.change == peer_event::kind::lost
             && who.address == config_.coordinator && registered_.lost())
      on_coordinator_lost(event.reason);
  }

  /// One answers: the same, or another one, perhaps at another address.
  void on_coordinator(const peer_identity& who) {
    if (auto sound = fence_.meet(who.cluster, who.generation); !sound) {
      config_.log->warn("{} is ignored: {}", who.address,
                        sound.error().message);
      return;
    }
    const auto anew = !coordinator_.empty() && coordinator_ != who.incarnation;
    coordinator_ = who.incarnation;
    config_.coordinator = who.address;
    registered_.heard(anew, clock::now());
    register_if_due();
    if (!anew)
      return;
    give_up_at_.reset();
    shares_.end_all(
      fail(ec::unavailable, "the coordinator has been started anew"));
  }

  void on_coordinator_lost(const std::string& reason) {
    config_.log->warn(
      "the coordinator at {} is lost: {}; runs here go on without it for {} s "
      "at most",
      config_.coordinator, reason,
      std::chrono::ceil<std::chrono::seconds>(config_.grace).count());
    give_up_at_ = clock::now() + config_.grace;
  }

  /// Attempts to reach them at once, and not when the transport would.
  void keep_coordinators() {
    for (const auto& address : addresses_)
      calls_.net().keep(address);
    keep_at_ = clock::now() + timeouts::ask_again;
  }

  /// While no coordinator leads this daemon.
  void look_for_coordinator() {
    const auto now = clock::now();
    if (registered_.now() == registration::state::cut_off && now >= keep_at_)
      keep_coordinators();
    if (!give_up_at_ || now < *give_up_at_)
      return;
    give_up_at_.reset();
    shares_.end_all(
      fail(ec::unavailable,
           "the coordinator was lost and has not claimed it since"));
  }

  /// The coordinator asks for its share when a daemon joins again, and so hears
  /// that it has ended.
  void on_orphaned(const run_orphaned& lost) {
    if (!shares_.orphaned(lost))
      return;
    registered_.changed(clock::now());
    register_if_due();
  }

  void look_again() {
    post_later(handle_of<interface>(self_), timeouts::memory_look, tick{});
  }

  void look() {
    look_again();
    complaints_.look(clock::now());
    reports_.sample_memory();
    keeper_.kept().look(clock::now());
    register_if_due();
    look_for_coordinator();
    look_at_data();
    tell_health();
    leave_figures();
  }

  /// While the last reports have no answers, there are no others: they would
  /// only stand in line.
  void tell_health() {
    if (telling_health_ != 0)
      return;
    for (const auto& report : reports_.due()) {
      ++telling_health_;
      calls_.call(config_.coordinator, method::health_report, encode(report),
                  within(timeouts::question, timeouts::question_unreachable, 1),
                  [this](const result<payload>&) { --telling_health_; });
    }
  }

  /// For whoever asks over HTTP.
  void leave_figures() {
    const auto now = clock::now();
    if (!config_.figures || now < leave_figures_)
      return;
    leave_figures_ = now + timeouts::figures;
    auto out = reports_.figures(now);
    out.registered = registered_.now() == registration::state::registered;
    config_.figures->leave(std::move(out));
  }

  // -- the data served here

  void look_at_data() {
    if (looking_ || clock::now() < look_at_data_)
      return;
    looking_ = true;
    config_.guard->check(
      [data = data_] { return data->look(); },
      [me = handle_of<interface>(self_)](const result<void>& sound) {
        post(me, data_seen{sound});
      });
  }

  /// A run has failed: the data may be why.
  void look_at_data_soon() {
    look_at_data_ = clock::now();
    look_at_data_again_ = looking_;
  }

  void on_data(const result<void>& sound) {
    looking_ = false;
    look_at_data_ = clock::now();
    if (!std::exchange(look_at_data_again_, false))
      look_at_data_ += timeouts::data_look;
    const auto fault = sound ? std::string{} : sound.error().message;
    if (fault == config_.offer.fault)
      return;
    if (sound)
      config_.log->info("the data can be used again");
    else
      config_.log->error("the data cannot be used: {}", fault);
    config_.offer.fault = fault;
    if (!sound) // What is on would train on zeros, or on what was flipped.
      shares_.fail_all(sound.error());
    registered_.changed(clock::now());
    register_if_due();
  }

  void stop(std::optional<error> reason) {
    if (auto tell = std::exchange(config_.on_stop, {}))
      tell(std::move(reason));
  }

  // -- requests

  /// Why a request is not served, if it is not.
  std::optional<error> refusal_of(const incoming_request& request) {
    if (request.from.address.empty()) // A client.
      return fail(ec::invalid_argument,
                  "daemon \"{}\" accepts requests only from the coordinator at "
                  "{}: ask there",
                  calls_.net().self().name, config_.coordinator);
    const auto role = request.from.holder.role;
    if (role != key_role::all && role != key_role::coordinator)
      return fail(
        ec::permission,
        "daemon \"{}\" accepts orders only from the coordinator, not from {}",
        calls_.net().self().name, label_of(request.from.holder));
    auto fresh = fence_.check(request.from.cluster, request.from.generation);
    if (fresh)
      return std::nullopt;
    complaints_.add("refused: " + fresh.error().message, clock::now());
    return fresh.error();
  }

  void serve(const incoming_request& request) {
    if (const auto refused = refusal_of(request)) {
      request.reply.reply(*refused);
      return;
    }
    switch (request.method) {
    case method::deploy:
      meet(request.data);
      orders_.deploy(request);
      break;
    case method::order:
      give_up_at_.reset(); // The coordinator still leads what is on here.
      if (orders_.carry_out(request))
        look_at_data_soon();
      break;
    case method::members: {
      const auto update = decode_members_update(request.data);
      if (update)
        meet(update.value().members);
      request.reply.reply(update ? result<payload>{payload{}} : update.error());
      break;
    }
    case method::chaos:
      request.reply.reply(chaos(request.data));
      break;
    case method::weights:
    case method::spans:
      request.reply.reply(orders_.read(request));
      break;
    case method::stop:
      config_.log->info("stopped by the coordinator");
      request.reply.reply(payload{});
      stop(std::nullopt);
      break;
    default:
      request.reply.reply(
        fail(ec::invalid_argument,
             "daemon \"{}\" does not serve `{}`: ask the coordinator at {}",
             calls_.net().self().name, to_string(request.method),
             config_.coordinator));
    }
  }

  result<payload> chaos(const payload& data) {
    GRAPHMILL_TRY(const auto asked, decode_chaos_request(data));
    if (!config_.chaos)
      return refuse_chaos(calls_.net().self().name);
    config_.chaos->inflict(asked);
    return payload{};
  }

  interface::pointer self_;
  agent_config config_;
  remote_calls<interface> calls_;
  std::vector<std::string> addresses_; ///< Where coordinators may be.
  generation_fence fence_;
  std::string coordinator_; ///< Incarnation of the one that was met last.
  std::optional<clock::time_point> give_up_at_; ///< The shares that are on.
  clock::time_point keep_at_{};
  registration registered_{clock::now(), config_.join_timeout};
  known_keys keys_;
  hosted_shares hosted_;
  next_shares next_;
  share_reports reports_;
  share_traces traces_;
  share_keeper keeper_;
  share_host shares_;
  share_orders orders_;
  bool told_of_silence_ = false;
  std::size_t telling_health_ = 0; ///< Reports without an answer.
  clock::time_point leave_figures_{};
  complaint_log complaints_{
    [this](const auto& line) { config_.log->warn("{}", line); }};
  std::shared_ptr<served_data> data_ = std::make_shared<served_data>(
    config_.data, config_.graph, config_.offer.parts);
  bool looking_ = false;
  clock::time_point look_at_data_ = clock::now();
  bool look_at_data_again_ = false; ///< After the look that is on.
};

} // namespace

agent_actor spawn_agent(caf::actor_system& system, agent_config config) {
  return spawn_state<agent>(system, std::move(config));
}

} // namespace graphmill
