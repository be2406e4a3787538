#include "actors/cluster/coordinator/members/cluster_daemons.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/transport/sessions/address.hpp"
#include "messages/base/pluralized.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// How long a lost consumer may take to be back: its connection may just have
/// broken.
constexpr std::chrono::seconds consumer_is_back{30};

} // namespace

cluster_daemons::cluster_daemons(cluster_port& port, cluster_notices& notices,
                                 const coordinator_config& config, hooks tell)
  : port_(port), notices_(notices), tell_(std::move(tell)),
    registry_(config.offer), keys_(port, notices, registry_, joins_, config) {
  // nop
}

void cluster_daemons::join(const incoming_request& request) {
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
    notices_.complain("refused: " + fits.error().message);
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
  if (!rival || rival->status.address == identity.address)
    reach(std::move(joins));
  else
    ask_rival(*rival, std::move(joins));
}

/// Another daemon has the name. It may have been killed just now: then nobody
/// answers there.
void cluster_daemons::ask_rival(const daemon_registry::entry& rival,
                                unreached_joins::join joins) {
  port_.call(
    rival.status.address, method::status, {},
    within(timeouts::rival, timeouts::rival_unreachable, 1),
    [this, joins = std::move(joins), rival](const result<payload>& answer) {
      // Whoever is there with another key is another one.
      const auto dead = !answer
                        && (answer.error().code == ec::unavailable
                            || answer.error().code == ec::timeout
                            || (joins.identity.holder.role != key_role::all
                                && answer.error().code == ec::permission));
      auto successor = joins;
      successor.replaces = rival.incarnation;
      if (dead)
        reach(std::move(successor));
      else
        joins.reply.reply(
          fail(ec::invalid_argument,
               "another daemon at {} has the name \"{}\": give this "
               "one another --name",
               rival.status.address, joins.identity.name));
    });
}

/// Takes a daemon in once it answers at the address that it gave. Until then it
/// is no daemon of the cluster.
void cluster_daemons::reach(unreached_joins::join asked) {
  const auto& self = port_.self();
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
    notices_.complain("refused: " + waits.error().message);
    reply.reply(waits.error());
    return;
  }
  keys_.admit();
  port_.keep(address);
}

/// Takes a daemon in that was reached, unless another one has come meanwhile.
void cluster_daemons::admit(const unreached_joins::join& reached) {
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

/// Daemons register when they start, and after they have given up all runs.
void cluster_daemons::take_in(const peer_identity& identity,
                              const join_request& request,
                              const responder& reply) {
  if (!keys_.has(identity)) {
    reply.reply(fail(ec::permission, "the key of {} has been revoked",
                     label_of(identity.holder)));
    return;
  }
  const auto known = registry_.find(identity.name);
  const auto anew = !known || known.value().incarnation != identity.incarnation;
  if (anew)
    tell_.lost(identity.name,
               fail(ec::unavailable, "daemon \"{}\" has been started anew",
                    identity.name));
  else
    tell_.registered_again(identity);
  for (const auto& address : registry_.join(identity, request))
    forget(address);
  keys_.admit();
  keys_.joined(identity.name);
  tell_.joined(identity.name, anew);
  port_.keep(identity.address);
  notices_.coming(event_kind::joined, identity.name,
                  fmt::format("at {} has joined with {}", identity.address,
                              pluralized(request.parts.size(), "part")));
  reply.reply(encode(join_reply{port_.self().name, keys_.daemon_keys()}));
  tell_.changed();
}

void cluster_daemons::on_peer(const peer_event& event) {
  const auto& address = event.identity.address;
  switch (event.change) {
  case peer_event::kind::up:
    on_met(event.identity);
    if (auto daemon = registry_.back(address, event.identity.incarnation)) {
      notices_.coming(event_kind::back, daemon->status.name, "is back");
      keys_.send_to(daemon->status.name);
      tell_.changed();
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

/// Somebody answers at an address that we keep a connection to.
void cluster_daemons::on_met(const peer_identity& identity) {
  for (const auto& joins : joins_.met(identity.address, identity.incarnation))
    admit(joins);
}

void cluster_daemons::on_lost(
  const std::optional<daemon_registry::entry>& daemon) {
  if (!daemon)
    return;
  const auto& status = daemon->status;
  if (is_consumer(status.name))
    lost_consumers_[status.name] = clock::now() + consumer_is_back;
  const auto says = fmt::format("daemon {} at {} is lost: {}", status.name,
                                status.address, status.note);
  notices_.log().warn("{}", says);
  notices_.event_of(tell_.needing(status.name), event_kind::lost, status.name,
                    says);
  tell_.lost(status.name,
             fail(ec::unavailable, "daemon \"{}\" at {} is lost: {}",
                  status.name, status.address, status.note));
  tell_.changed();
}

void cluster_daemons::look(clock::time_point now) {
  for (const auto& late : joins_.overdue(now)) {
    const auto& address = late.asked.identity.address;
    notices_.complain("refused: " + late.reason.message);
    if (!registry_.has(address) && address != port_.self().address)
      forget(address);
    late.asked.reply.reply(late.reason);
  }
  forget_lost_consumers(now);
}

void cluster_daemons::forget_lost_consumers(clock::time_point now) {
  std::erase_if(lost_consumers_, [this, now](const auto& lost) {
    if (now < lost.second)
      return false;
    // Empty: it is back, or has left.
    if (const auto address = registry_.forget(lost.first); !address.empty()) {
      notices_.coming(event_kind::left, lost.first, "does not come back");
      forget(address);
    }
    return true;
  });
}

/// No connection is kept to an address any more, unless somebody is awaited
/// there.
void cluster_daemons::forget(const std::string& address) {
  if (joins_.waits_at(address))
    return;
  joins_.gone(address);
  port_.forget(address);
}

void cluster_daemons::leave_later(const peer_identity& who,
                                  const responder& reply) {
  notices_.log().info("daemon {} leaves", who.name);
  registry_.begin_to_leave(who.name);
  std::erase_if(
    leaving_, [&who](const auto& leaver) { return leaver.daemon == who.name; });
  leaving_.push_back({who.name, who.incarnation, reply});
}

void cluster_daemons::let_leavers_go() {
  const auto first_to_go = std::stable_partition(
    leaving_.begin(), leaving_.end(), [this](const farewell& leaver) {
      return !tell_.needing(leaver.daemon).empty();
    });
  const std::vector<farewell> going(first_to_go, leaving_.end());
  leaving_.erase(first_to_go, leaving_.end());
  for (const auto& leaver : going) {
    let_go(leaver.daemon, leaver.incarnation);
    leaver.reply.reply(payload{});
  }
}

void cluster_daemons::let_go(const std::string& daemon,
                             const std::string& incarnation) {
  if (const auto joins = joins_.drop(incarnation)) {
    joins->reply.reply(
      fail(ec::unavailable, "daemon \"{}\" has left the cluster", daemon));
    if (const auto& address = joins->identity.address; !registry_.has(address))
      forget(address);
  }
  const auto known = registry_.find(daemon);
  if (!registry_.leave(daemon, incarnation))
    return; // Another one has the name by now.
  notices_.coming(event_kind::left, daemon, "has left");
  forget(known.value().status.address);
  tell_.changed();
}

} // namespace graphmill
