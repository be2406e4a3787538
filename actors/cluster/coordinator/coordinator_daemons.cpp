#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/transport/sessions/address.hpp"
#include "messages/base/pluralized.hpp"

#include <utility>

namespace graphmill {

void coordinator::join(const incoming_request& request) {
  auto asked = decode_join_request(request.data);
  if (!asked) {
    request.reply.reply(asked.error());
    return;
  }
  const auto where = parse_endpoint(request.from.address);
  if (!where) { // A client, or a daemon that does not know where it is.
    request.reply.reply(fail(ec::invalid_argument,
                             "\"{}\" has not said where it listens, and so "
                             "cannot join the cluster: {}",
                             request.from.name, where.error().message));
    return;
  }
  auto identity = request.from;
  identity.address = to_string(where.value()); // As news of it name it.
  if (auto fits = registry_.check(identity, asked.value()); !fits) {
    complaints_.add("refused: " + fits.error().message, clock::now());
    request.reply.reply(fits.error());
    return;
  }
  // Where everybody has a key of their own, nobody takes another one's place.
  const auto tenant = identity.holder.role == key_role::all
                        ? std::nullopt
                        : registry_.tenant_of(identity);
  if (tenant) { // It asks again, and may have the address if that one is lost.
    request.reply.reply(fail(ec::unavailable, "daemon \"{}\" is at {} already",
                             tenant->status.name, identity.address));
    return;
  }
  unreached_joins::join joins{identity, std::move(asked).value(),
                              host_group(request.host), request.reply};
  const auto rival = registry_.rival_of(identity);
  if (!rival || rival->status.address == identity.address) {
    reach(std::move(joins));
    return;
  }
  // It may have been killed just now: then nobody answers there.
  calls_.call(
    rival->status.address, method::status, {},
    within(timeouts::rival, timeouts::rival_unreachable, 1),
    [this, joins = std::move(joins), rival](const result<payload>& answer) {
      // Whoever is there with another key is another one.
      const auto dead = !answer
                        && (answer.error().code == ec::unavailable
                            || answer.error().code == ec::timeout
                            || (joins.identity.holder.role != key_role::all
                                && answer.error().code == ec::permission));
      auto successor = joins;
      successor.replaces = rival->incarnation;
      if (dead)
        reach(std::move(successor));
      else
        joins.reply.reply(
          fail(ec::invalid_argument,
               "another daemon at {} has the name \"{}\": give this "
               "one another --name",
               rival->status.address, joins.identity.name));
    });
}

/// Takes a daemon in once it answers at the address that it gave. Until then it
/// is no daemon of the cluster.
void coordinator::reach(unreached_joins::join asked) {
  const auto& self = calls_.net().self();
  const auto is_self = asked.identity.incarnation == self.incarnation
                       && asked.identity.address == self.address;
  if (is_self || joins_.is_met(asked.identity)) {
    admit(asked);
    return;
  }
  const auto reply = asked.reply;
  const auto address = asked.identity.address;
  if (auto waits = joins_.add(std::move(asked), clock::now() + timeouts::reach);
      !waits) {
    complaints_.add("refused: " + waits.error().message, clock::now());
    reply.reply(waits.error());
    return;
  }
  admit_members();
  calls_.net().keep(address);
}

/// Takes a daemon in that was reached, unless another one has come meanwhile.
void coordinator::admit(const unreached_joins::join& reached) {
  const auto& identity = reached.identity;
  if (auto fits = registry_.check(identity, reached.offer); !fits) {
    reached.reply.reply(fits.error());
    return;
  }
  const auto rival = registry_.rival_of(identity);
  if (rival && rival->status.address != identity.address
      && rival->incarnation != reached.replaces)
    reached.reply.reply(fail(ec::unavailable,
                             "another daemon has just joined as \"{}\"",
                             identity.name));
  else
    take_in(identity, reached.offer, reached.reply);
}

/// Somebody answers at an address that we keep a connection to.
void coordinator::on_met(const peer_identity& identity) {
  for (const auto& joins : joins_.met(identity.address, identity.incarnation))
    admit(joins);
}

void coordinator::refuse_unreached(clock::time_point now) {
  for (const auto& late : joins_.overdue(now)) {
    const auto& address = late.asked.identity.address;
    complaints_.add("refused: " + late.reason.message, now);
    if (!registry_.has(address) && address != calls_.net().self().address)
      forget(address);
    late.asked.reply.reply(late.reason);
  }
}

/// No connection is kept to an address any more, unless somebody is awaited
/// there.
void coordinator::forget(const std::string& address) {
  if (joins_.waits_at(address))
    return;
  joins_.gone(address);
  calls_.net().forget(address);
}

/// A daemon of the run that is on must stay until its share has ended: it may
/// have the weights. One that the run can do without need not, before all are
/// asked whether their data are sound.
void coordinator::leave(const incoming_request& request) {
  const auto& identity = request.from;
  const auto left =
    fail(ec::unavailable, "daemon \"{}\" has left the cluster", identity.name);
  if (active_ && active_->turn.now() != run_turn::state::filing
      && active_->is_member(identity)
      && (active_->turn.is_over() || !go_on_without(identity.name, left))) {
    config_.log->info("daemon {} leaves", identity.name);
    registry_.begin_to_leave(identity.name);
    std::erase_if(active_->leaving, [&identity](const auto& leaver) {
      return leaver.daemon == identity.name;
    });
    active_->leaving.push_back(
      {identity.name, identity.incarnation, request.reply});
    // Its operator has stopped it: that is no loss, after which the run would
    // be attempted again, perhaps while the whole cluster is being stopped.
    active_->turn.end_for_good();
    if (!active_->turn.cancelled()) // Else it ends by itself.
      go_on(active_->fail_run(left));
    return;
  }
  let_go(identity.name, identity.incarnation);
  request.reply.reply(payload{});
}

void coordinator::let_go(const std::string& daemon,
                         const std::string& incarnation) {
  const auto known = registry_.find(daemon);
  if (!registry_.leave(daemon, incarnation))
    return; // Another one has the name by now.
  tell_coming(event_kind::left, daemon, "has left");
  forget(known.value().status.address);
  start_next(); // Runs may wait for something else now.
}

void coordinator::break_off_if_used(const std::string& daemon,
                                    const char* event) {
  lose_if_used(daemon,
               fail(ec::unavailable, "daemon \"{}\" {}", daemon, event));
}

void coordinator::lose_if_used(const std::string& daemon, const error& reason) {
  if (!active_ || !active_->uses(daemon) || go_on_without(daemon, reason))
    return;
  go_on(active_->lose(daemon, reason));
}

/// A daemon that had lost the coordinator has ended its share of a run, but not
/// of one that began when it was heard again and had yet to register.
void coordinator::check_share(const peer_identity& identity) {
  // Once the run is over, shares answer for themselves when they have ended.
  if (!active_ || active_->turn.is_over() || !active_->is_deployed
      || !active_->uses(identity.name))
    return;
  member_request question{active_->id, member_action::check};
  question.attempt = active_->attempt;
  ask_daemon({identity.name, identity.address}, method::order, encode(question),
             within(timeouts::share_check, timeouts::question_unreachable),
             [this, daemon = identity.name, run = active_->id,
              attempt = active_->attempt](const result<payload>& answer) {
               if (!answer && active_ && active_->is(run, attempt)
                   && !active_->turn.is_over())
                 break_off_if_used(daemon, "had lost the coordinator");
             });
}

void coordinator::take_in(const peer_identity& identity,
                          const join_request& request, const responder& reply) {
  if (config_.watch && !has_member_key(identity)) {
    reply.reply(fail(ec::permission, "the key of {} has been revoked",
                     label_of(identity.holder)));
    return;
  }
  const auto known = registry_.find(identity.name);
  if (known && known.value().incarnation == identity.incarnation) {
    check_share(identity);
  } else {
    break_off_if_used(identity.name, "has been started anew");
    logs_.forget(identity.name);
  }
  for (const auto& address : registry_.join(identity, request))
    forget(address);
  admit_members();
  untold_.erase(identity.name);
  returning_.erase(identity.name);
  calls_.net().keep(identity.address);
  tell_coming(event_kind::joined, identity.name,
              fmt::format("at {} has joined with {}", identity.address,
                          pluralized(request.parts.size(), "part")));
  reply.reply(encode(join_reply{calls_.net().self().name, daemon_keys()}));
  start_next();
}

void coordinator::on_peer(const peer_event& event) {
  if (event.inbound) {
    if (event.change == peer_event::kind::lost
        || event.change == peer_event::kind::left)
      drop(uploads_.give_up(event.identity.incarnation));
    return;
  }
  const auto& address = event.identity.address;
  switch (event.change) {
  case peer_event::kind::up:
    on_met(event.identity);
    if (auto daemon = registry_.back(address, event.identity.incarnation)) {
      tell_coming(event_kind::back, daemon->status.name, "is back");
      tell_members(daemon->status.name);
      start_next();
    }
    break;
  case peer_event::kind::lost:
    joins_.gone(address);
    on_lost(registry_.lost(address, event.reason));
    break;
  case peer_event::kind::replaced:
    // The new one registers by itself, perhaps it has done so already.
    if (auto outdated = registry_.outdated(address, event.identity.incarnation))
      on_lost(registry_.lost(address, "it has been started anew"));
    on_met(event.identity);
    break;
  default:
    break;
  }
}

void coordinator::on_lost(const std::optional<daemon_registry::entry>& daemon) {
  if (!daemon)
    return;
  const auto& status = daemon->status;
  const auto says = fmt::format("daemon {} at {} is lost: {}", status.name,
                                status.address, status.note);
  config_.log->warn("{}", says);
  tell(event_kind::lost, status.name, says);
  lose_if_used(status.name,
               fail(ec::unavailable, "daemon \"{}\" at {} is lost: {}",
                    status.name, status.address, status.note));
  start_next();
}

result<payload> coordinator::drain(const payload& data) {
  GRAPHMILL_TRY(const auto request, decode_daemon_request(data));
  GRAPHMILL_TRYV(registry_.drain(request.name, !request.back));
  tell_coming(request.back ? event_kind::in_service : event_kind::draining,
              request.name,
              request.back ? "is in service again" : "is draining");
  start_next(); // Runs may have waited for it.
  return payload{};
}

/// Hands on to a daemon that it is to harm itself.
void coordinator::chaos(const payload& data, const responder& reply) {
  auto decoded = decode_chaos_request(data);
  if (!decoded) {
    reply.reply(decoded.error());
    return;
  }
  auto asked = std::move(decoded).value();
  const auto target = registry_.find(asked.daemon);
  const auto peer = asked.peer.empty() ? target : registry_.find(asked.peer);
  if (!target || !peer) {
    reply.reply(target ? peer.error() : target.error());
    return;
  }
  const auto& status = target.value().status;
  if (!status.chaos) {
    reply.reply(refuse_chaos(asked.daemon));
    return;
  }
  const auto comes = active_ ? active_->check_moment(asked.daemon, asked.at,
                                                     calls_.net().self().name)
                             : ok();
  if (!comes) {
    reply.reply(comes.error());
    return;
  }
  if (!asked.peer.empty())
    asked.peer = peer.value().status.address;
  config_.log->warn("a client asks for chaos: {}", sentence_of(asked));
  if (status.name == calls_.net().self().name) {
    if (config_.chaos)
      config_.chaos->inflict(asked);
    reply.reply(config_.chaos ? result<payload>{payload{}}
                              : refuse_chaos(asked.daemon));
    return;
  }
  calls_.call(status.address, method::chaos, encode(asked),
              within(timeouts::question, timeouts::question_unreachable, 1),
              [reply](const result<payload>& answer) { reply.reply(answer); });
}

void coordinator::stop(const payload& data, const responder& reply) {
  const auto request = decode_daemon_request(data);
  if (!request) {
    reply.reply(request.error());
    return;
  }
  const auto& target = request.value().name;
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
  const auto daemon = registry_.find(target);
  if (!daemon) {
    reply.reply(daemon.error());
    return;
  }
  stop_daemon(daemon.value(), reply);
}

void coordinator::stop_daemon(const daemon_registry::entry& daemon,
                              const responder& reply) {
  calls_.call(daemon.status.address, method::stop, {},
              within(timeouts::question, timeouts::question_unreachable, 1),
              [this, daemon, reply](const result<payload>& answer) {
                if (answer)
                  let_go(daemon.status.name, daemon.incarnation);
                reply.reply(answer);
              });
}

void coordinator::stop_all(const std::string& target, const responder& reply) {
  if (!target.empty() && registry_.statuses().size() > 1) {
    reply.reply(fail(ec::invalid_argument,
                     "\"{}\" is the coordinator: stop the other daemons "
                     "first, or all with --all",
                     target));
    return;
  }
  if (target.empty()) // Else a stand-in may go on in its place.
    if (auto marked = config_.lock->mark_ended(); !marked)
      config_.log->warn("a stand-in would not know that the cluster ends: {}",
                        marked.error().message);
  auto left = std::make_shared<std::size_t>(1);
  const auto done = [this, left, reply] {
    if (--*left != 0)
      return;
    reply.reply(payload{});
    end_cluster();
  };
  for (const auto& status : registry_.statuses()) {
    if (status.name == calls_.net().self().name
        || status.state == daemon_state::lost)
      continue;
    ++*left;
    calls_.call(status.address, method::stop, {},
                within(timeouts::question, timeouts::question_unreachable, 1),
                [done](const result<payload>&) { done(); });
  }
  done();
}

} // namespace graphmill
