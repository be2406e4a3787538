#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/base/counted.hpp"

#include <utility>

namespace graphmill {

void coordinator::join(const incoming_request& request) {
  auto what = decode_join_request(request.data);
  if (!what) {
    request.reply.reply(what.error());
    return;
  }
  const auto& who = request.from;
  if (auto fits = members_.check(who.name, what.value()); !fits) {
    complaints_.add("refused: " + fits.error().message, clock::now());
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
              within(timeouts::rival, timeouts::rival_unreachable, 1),
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

/// A daemon of the run that is on must stay until its share has ended: it may
/// have the weights.
void coordinator::leave(const incoming_request& request) {
  const auto& who = request.from;
  if (active_ && active_->turn.now() != run_turn::state::filing
      && active_->is_member(who)) {
    config_.log->info("daemon {} leaves", who.name);
    members_.begin_to_leave(who.name);
    std::erase_if(active_->leaving,
                  [&who](const auto& one) { return one.daemon == who.name; });
    active_->leaving.push_back({who.name, who.incarnation, request.reply});
    if (!active_->turn.cancelled()) // Else it ends by itself.
      go_on(active_->fail(
        fail(ec::unavailable, "daemon \"{}\" has left the cluster", who.name)));
    return;
  }
  let_go(who.name, who.incarnation);
  request.reply.reply(payload{});
}

void coordinator::let_go(const std::string& daemon,
                         const std::string& incarnation) {
  const auto one = members_.find(daemon);
  if (!members_.leave(daemon, incarnation))
    return; // Another one has the name by now.
  config_.log->info("daemon {} has left", daemon);
  calls_.net().forget(one.value().status.address);
  start_next(); // Runs may wait for something else now.
}

void coordinator::break_off_if_used(const std::string& daemon,
                                    const char* what) {
  lose_if_used(daemon, fail(ec::unavailable, "daemon \"{}\" {}", daemon, what));
}

void coordinator::lose_if_used(const std::string& daemon, const error& why) {
  if (!active_ || !active_->uses(daemon))
    return;
  go_on(active_->lose(daemon, why));
}

/// A daemon that had lost the coordinator has ended its share of a run, but not
/// of one that began when it was heard again and had yet to register.
void coordinator::check_share(const peer_identity& who) {
  if (!active_ || !active_->uses(who.name))
    return;
  calls_.call(who.address, method::order,
              encode(member_order{active_->id, member_action::check}),
              within(timeouts::question, timeouts::question_unreachable),
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
  for (const auto& address : members_.join(who, what))
    calls_.net().forget(address);
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
    if (auto one = members_.back(address, event.who.incarnation)) {
      config_.log->info("daemon {} is back", one->status.name);
      start_next();
    }
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
  start_next();
}

result<payload> coordinator::drain(const payload& data) {
  TRY(const auto what, decode_node_request(data));
  TRYV(members_.drain(what.name, !what.back));
  config_.log->info("daemon {} is {}", what.name,
                    what.back ? "in service again" : "draining");
  start_next(); // Runs may have waited for it.
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
              within(timeouts::question, timeouts::question_unreachable, 1),
              [this, one, reply](const result<payload>& answer) {
                if (answer) {
                  members_.leave(one.status.name, one.incarnation);
                  calls_.net().forget(one.status.address);
                  start_next();
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
    end_cluster();
  };
  for (const auto& who : members_.statuses()) {
    if (who.name == calls_.net().self().name || who.state == daemon_state::lost)
      continue;
    ++*left;
    calls_.call(who.address, method::stop, {},
                within(timeouts::question, timeouts::question_unreachable, 1),
                [done](const result<payload>&) { done(); });
  }
  done();
}

} // namespace graphmill
