#include "actors/cluster/coordinator.hpp"

#include "actors/cluster/coordinator_state.hpp"
#include "messages/counted.hpp"

#include <utility>

namespace graphmill {

using std::chrono::milliseconds;

namespace {

/// How often waiting questions are looked at.
constexpr milliseconds look_interval{100};

} // namespace

void coordinator::serve(const incoming_request& request) {
  const auto& data = request.data;
  const auto& reply = request.reply;
  switch (request.method) {
  case method::join:
    join(request);
    break;
  case method::leave:
    leave(request.from);
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
    reply.reply(fail(ec::invalid_argument, "a coordinator does not serve `{}`",
                     to_string(request.method)));
  }
}

void coordinator::join(const incoming_request& request) {
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
                  reply.reply(
                    fail(ec::invalid_argument,
                         "another daemon at {} has the name \"{}\": give this "
                         "one another --name",
                         rival->status.address, who.name));
              });
}

void coordinator::leave(const peer_identity& who) {
  if (!members_.leave(who.name, who.incarnation))
    return; // Another one has the name by now.
  config_.log->info("daemon {} has left", who.name);
  calls_.net().forget(who.address);
  break_off_if_used(who.name, "has left the cluster");
}

void coordinator::break_off_if_used(const std::string& daemon,
                                    const char* what) {
  lose_if_used(daemon, fail(ec::unavailable, "daemon \"{}\" {}", daemon, what));
}

void coordinator::lose_if_used(const std::string& daemon, error why) {
  if (!active_ || !active_->uses(daemon))
    return;
  active_->lose(daemon, std::move(why));
  go_on();
}

/// A daemon that had lost the coordinator has ended its share of a run, but not
/// of one that began when it was heard again and had yet to register.
void coordinator::check_share(const peer_identity& who) {
  if (!active_ || !active_->uses(who.name))
    return;
  calls_.call(who.address, method::order,
              encode(member_order{active_->id, member_action::check}),
              within(milliseconds{5000}, milliseconds{2000}),
              [this, daemon = who.name,
               run = active_->id](const result<payload>& answer) {
                if (!answer && active_ && active_->id == run)
                  break_off_if_used(daemon, "had lost the coordinator");
              });
}

void coordinator::take_in(const peer_identity& who, const join_request& what,
                          const responder& reply) {
  const auto known = members_.find(who.name);
  if (known && known.value().incarnation == who.incarnation)
    check_share(who);
  else
    break_off_if_used(who.name, "has been started anew");
  members_.join(who, what);
  calls_.net().keep(who.address);
  config_.log->info("daemon {} at {} has joined with {}", who.name, who.address,
                    counted(what.parts.size(), "part"));
  reply.reply(encode(join_reply{calls_.net().self().name}));
  start_next();
}

void coordinator::on_peer(const peer_event& event) {
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

void coordinator::on_lost(const std::optional<membership::entry>& one) {
  if (!one)
    return;
  const auto& who = one->status;
  config_.log->warn("daemon {} at {} is lost: {}", who.name, who.address,
                    who.note);
  lose_if_used(who.name,
               fail(ec::unavailable, "daemon \"{}\" at {} is lost: {}",
                    who.name, who.address, who.note));
}

status_reply coordinator::status() const {
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

result<payload> coordinator::drain(const payload& data) {
  TRY(const auto what, decode_node_request(data));
  TRYV(members_.drain(what.name, !what.back));
  config_.log->info("daemon {} is {}", what.name,
                    what.back ? "in service again" : "draining");
  return payload{};
}

void coordinator::stop(const payload& data, const responder& reply) {
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
  stop_daemon(one.value(), reply);
}

void coordinator::stop_daemon(const membership::entry& one,
                              const responder& reply) {
  calls_.call(one.status.address, method::stop, {},
              within(milliseconds{5000}, milliseconds{2000}, 1),
              [this, one, reply](const result<payload>& answer) {
                if (answer) {
                  members_.leave(one.status.name, one.incarnation);
                  calls_.net().forget(one.status.address);
                }
                reply.reply(answer);
              });
}

void coordinator::stop_all(const std::string& target, const responder& reply) {
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
    if (who.name == calls_.net().self().name || who.state == daemon_state::lost)
      continue;
    ++*left;
    calls_.call(who.address, method::stop, {},
                within(milliseconds{5000}, milliseconds{2000}, 1),
                [done](const result<payload>&) { done(); });
  }
  done();
}

void coordinator::look_again() {
  post_later(handle_of<interface>(self_), look_interval, tick{});
}

void coordinator::look() {
  look_again();
  const auto now = clock::now();
  answer_watchers(now);
  if (active_)
    active_->answer_questions(now);
}

coordinator_actor spawn_coordinator(caf::actor_system& system,
                                    coordinator_config config) {
  return spawn_state<coordinator>(system, std::move(config));
}

} // namespace graphmill
