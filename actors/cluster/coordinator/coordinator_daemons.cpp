#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/transport/sessions/address.hpp"
#include "messages/base/pluralized.hpp"

#include <spdlog/logger.h>

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

/// A daemon of a run that is on must stay until its share has ended: it may
/// have the weights. One that the run can do without need not, before all are
/// asked whether their data are sound.
void coordinator::leave(const incoming_request& request) {
  const auto& identity = request.from;
  const auto left =
    fail(ec::unavailable, "daemon \"{}\" has left the cluster", identity.name);
  std::vector<run_ptr> ending;
  for (const auto& run : active_.all())
    if (run->is_member(identity) && run->needs(identity.name)
        && (run->turn.is_over() || !go_on_without(run, identity.name, left)))
      ending.push_back(run);
  if (!ending.empty()) {
    config_.log->info("daemon {} leaves", identity.name);
    registry_.begin_to_leave(identity.name);
    std::erase_if(leaving_, [&identity](const auto& leaver) {
      return leaver.daemon == identity.name;
    });
    leaving_.push_back({identity.name, identity.incarnation, request.reply});
  }
  for (const auto& run : ending) {
    // Its operator has stopped it: that is no loss, after which the run would
    // be attempted again, perhaps while the whole cluster is being stopped.
    run->turn.end_for_good();
    if (!run->turn.cancelled()) // Else it ends by itself.
      go_on(run, run->fail_run(left));
  }
  if (!ending.empty())
    return;
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
  for (const auto& run : active_.all())
    if (run->uses(daemon))
      lose(run, daemon, reason);
}

/// A run has lost one of its daemons.
void coordinator::lose(const run_ptr& run, const std::string& daemon,
                       const error& reason) {
  if (!go_on_without(run, daemon, reason))
    go_on(run, run->lose(daemon, reason));
}

/// A daemon that had lost the coordinator has ended its share of a run, but not
/// of one that began when it was heard again and had yet to register.
void coordinator::check_share(const peer_identity& identity) {
  for (const auto& run : active_.all()) {
    // Once the run is over, shares answer for themselves when they have ended.
    if (run->turn.is_over() || !run->is_deployed || !run->uses(identity.name))
      continue;
    member_request question{run->id, member_action::check};
    question.attempt = run->attempt;
    ask_daemon({identity.name, identity.address}, method::order,
               encode(question),
               within(timeouts::share_check, timeouts::question_unreachable),
               [this, daemon = identity.name, id = run->id,
                attempt = run->attempt](const result<payload>& answer) {
                 const auto on = answer ? nullptr : active_.find(id, attempt);
                 if (on && !on->turn.is_over())
                   lose(on, daemon,
                        fail(ec::unavailable,
                             "daemon \"{}\" had lost the coordinator", daemon));
               });
  }
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
  forget_returning(identity.name);
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
  tell_runs(event_kind::lost, status.name, says);
  lose_if_used(status.name,
               fail(ec::unavailable, "daemon \"{}\" at {} is lost: {}",
                    status.name, status.address, status.note));
  start_next();
}

} // namespace graphmill
