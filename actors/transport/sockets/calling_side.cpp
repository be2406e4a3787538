#include "actors/transport/sockets/calling_side.hpp"

#include "actors/transport/sockets/connections/local_socket.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Messages taken from a socket before others have their turn.
constexpr int control_turn = 64;
constexpr int data_turn = 4;

constexpr std::chrono::milliseconds farewell_linger{200};

constexpr auto answer_to_us = "what follows from an answer";

} // namespace

void calling_side::request(mailbox::request& request) {
  auto of = caller_of(request.address);
  if (!of)
    return context_.guarded(answer_to_us, [&request, &of] {
      request.on_reply(std::move(of).error());
    });
  auto& to = *of.value();
  to.session.request(context_.now(), next_id_++, request.method,
                     std::move(request.data), request.options,
                     std::move(request.on_reply));
  pump(to);
}

void calling_side::keep(const mailbox::keep& request) {
  auto of = caller_of(request.address);
  if (!of)
    return context_.log(of.error().message);
  auto& session = of.value()->session;
  if (request.on) {
    session.keep(context_.now());
  } else {
    session.forget(context_.now());
    serves_.unkeep(session.address());
  }
  pump(*of.value());
}

/// The key of whoever listens at an address. Nothing if the keys have roles and
/// nobody has said who is there.
std::optional<std::string>
calling_side::key_of(const std::string& address) const {
  if (!context_.options.keys)
    return std::string{};
  const auto& ours = *context_.options.keys;
  if (ours.role == key_role::all || address == context_.hello.address)
    return ours.public_key;
  if (const auto known = context_.table->servers.find(address);
      known != context_.table->servers.end())
    return known->second;
  if (ours.role == key_role::coordinator)
    return std::nullopt;
  return ours.coordinator_key; // However the user calls its address.
}

void calling_side::look_at_keys() {
  for (auto& [address, of] : callers_) {
    const auto key = key_of(address);
    if (!of.link || key == of.link->server_key())
      continue;
    of.session.link_down(context_.now(),
                         key ? fail(ec::unavailable, "it has another key now")
                             : fail(ec::permission,
                                    "the key of the daemon at {} has been "
                                    "revoked",
                                    address));
    pump(of);
  }
}

/// Whoever asks at an address, made if there is none.
result<calling_side::caller*>
calling_side::caller_of(const std::string& address) {
  GRAPHMILL_TRY(auto where, parse_endpoint(address));
  if (where.port == 0 || is_wildcard(where))
    return fail(ec::invalid_argument,
                "'{}' is an address to listen at, not "
                "one to connect to",
                address);
  auto text = to_string(where);
  const auto known = callers_.find(text);
  if (known != callers_.end())
    return &known->second;
  caller_session::settings with{context_.hello, context_.options.liveness,
                                mix64(context_.options.seed + callers_made_++),
                                context_.options.queue_bytes,
                                context_.options.keys.has_value()};
  auto& made =
    callers_
      .try_emplace(text, caller{caller_session{text, std::move(with)},
                                where,
                                nullptr,
                                where,
                                false,
                                false,
                                {},
                                std::nullopt,
                                nullptr})
      .first->second;
  return &made;
}

void calling_side::serve() {
  for (auto at = callers_.begin(); at != callers_.end();) {
    auto& of = at->second;
    for (const auto over : {channel::control, channel::data}) {
      const auto turn = over == channel::control ? control_turn : data_turn;
      for (int i = 0; i < turn && of.link; ++i) {
        auto got = of.link->receive(over);
        if (!got)
          break;
        receive(of, over, std::move(*got));
        pump(of);
      }
    }
    if (of.link)
      if (const auto failure = of.link->broken(context_.now()))
        broke(of, *failure);
    if (const auto refused = of.probe ? of.probe->refused() : std::nullopt) {
      of.probe.reset();
      of.session.probed(context_.now(), *refused);
    }
    pump(of);
    if (of.link)
      of.link->flush();
    if (of.session.idle() && !of.link) {
      context_.links->forget(at->first);
      at = callers_.erase(at);
    } else {
      ++at;
    }
  }
}

void calling_side::receive(caller& of, channel over, arrival got) {
  if (!got.content) {
    ++context_.counters->malformed;
    of.session.link_down(context_.now(),
                         fail(ec::invalid_data, "it sent {}", got.reason));
    return;
  }
  if (!std::exchange(of.seen, true)) {
    of.seen_at = other_end(got.descriptor, of.where.port).value_or(of.where);
    of.here = stays_here(got.descriptor);
  }
  const auto failed = context_.taken([this, &of, &got, over] {
    of.session.receive(context_.now(), over, std::move(*got.content));
  });
  if (failed)
    of.session.link_down(context_.now(), *failed);
}

void calling_side::broke(caller& of, const link_failure& failure) {
  if (of.probe) // Not even refused until now: that was silence.
    of.session.probed(context_.now(), false);
  of.probe.reset();
  if (of.session.link_down(context_.now(), failure.reason, failure.certain))
    context_.complain(fmt::format("{} does not let us in: {}",
                                  of.session.address(),
                                  failure.reason.message));
  if (failure.reason.code == ec::unavailable && of.session.worth_probing())
    of.probe = std::make_unique<port_probe>(of.seen_at);
}

void calling_side::pump(caller& of) {
  for (auto& effect : of.session.take())
    act(of, effect);
  const auto& counts = of.session.counters();
  context_.counters->retries += counts.retries - of.reported.retries;
  of.reported = counts;
  tell_link(of);
}

/// Leaves on the board what has changed of a link.
void calling_side::tell_link(caller& of) {
  const auto state = of.session.link();
  if (of.told == state)
    return;
  of.told = state;
  context_.links->asks(of.session.address(), of.session.peer_name(), state,
                       of.session.reason(), link_board::clock::now());
}

void calling_side::act(caller& of, caller_session::effect& effect) {
  using session = caller_session;
  if (const auto* how = std::get_if<session::open_link>(&effect)) {
    open(of, *how);
  } else if (const auto* end = std::get_if<session::close_link>(&effect)) {
    context_.faults.forget(of.session.address());
    if (of.link && end->flush) {
      of.link->flush();
      of.link->linger(farewell_linger);
    }
    of.link.reset();
  } else if (auto* out = std::get_if<session::send>(&effect)) {
    if (of.link
        && !context_.faults.take(context_.now(),
                                 {of.session.address(), false, out->channel},
                                 out->content))
      of.link->send(out->channel, std::move(out->content));
  } else if (auto* done = std::get_if<session::finish>(&effect)) {
    context_.guarded(answer_to_us,
                     [done] { done->on_reply(std::move(done->answer)); });
  } else if (const auto* said = std::get_if<session::note>(&effect)) {
    context_.log(said->sentence);
  } else if (const auto* news = std::get_if<peer_event>(&effect)) {
    if (news->change != peer_event::kind::lost) // It may be back soon.
      serves_.keep(of.session.address(), news->identity.incarnation);
    context_.tell(*news);
  }
}

void calling_side::open(caller& of, const caller_session::open_link& how) {
  if (how.channel == channel::control) {
    of.link.reset();
    of.seen = of.here = false;
    if (!has_room_for_link()) {
      of.session.link_down(
        context_.now(),
        fail(ec::unavailable,
             "{} is connected to {}, and its descriptors allow no more: "
             "raise its limit of open files (ulimit -Hn)",
             context_.options.name, pluralized(context_.quota.peers, "peer")));
      return;
    }
    auto key = key_of(of.session.address());
    if (!key) {
      of.session.link_down(context_.now(),
                           fail(ec::permission,
                                "no member of the cluster is known to be at {}",
                                of.session.address()));
      return;
    }
    of.link = std::make_unique<peer_link>(of.where, context_.options.keys,
                                          std::move(*key), *context_.counters);
  }
  if (!of.link) // It has failed in the meantime.
    return;
  try {
    connect(of, how);
  } catch (const zmq::error_t& broken) {
    of.link.reset();
    of.session.link_down(context_.now(),
                         fail(ec::io, "cannot open a socket to {}: {}",
                              to_string(of.where), broken.what()));
  }
}

void calling_side::connect(caller& of, const caller_session::open_link& how) {
  // One that is not here may have a namesake, but no socket of ours.
  const auto file = how.local.empty() || !of.here
                      ? std::nullopt
                      : find_local_socket(context_.local_folder, how.local);
  if (!file)
    return of.link->connect(context_.sockets, how.channel);
  of.link->connect_locally(context_.sockets, how.channel, *file);
  ++context_.counters->local_channels;
}

bool calling_side::has_room_for_link() const {
  const auto links = static_cast<std::size_t>(std::ranges::count_if(
    callers_, [](const auto& known) { return known.second.link != nullptr; }));
  return links < context_.quota.peers;
}

void calling_side::tick() {
  const auto time = context_.now();
  for (auto& [address, of] : callers_)
    if (of.session.next_tick() <= time) {
      of.session.tick(time);
      pump(of);
      if (of.link)
        of.link->flush();
    }
}

session_time calling_side::next_tick() const {
  auto next = session_time::max();
  for (const auto& [address, of] : callers_) {
    next = std::min(next, of.session.next_tick());
    if (of.link)
      next = std::min(next, of.link->next_tick());
  }
  return next;
}

void calling_side::add_polls(std::vector<zmq::pollitem_t>& polls) {
  for (auto& [address, of] : callers_)
    if (of.link)
      of.link->add_polls(polls);
}

void calling_side::send(const message_faults::target& where, message content) {
  const auto at = callers_.find(where.to);
  if (at != callers_.end() && at->second.link)
    at->second.link->send(where.over, std::move(content));
}

/// Both ends see what they see when a network breaks.
void calling_side::cut(const std::string& peer) {
  for (auto& [address, of] : callers_) {
    if (!of.link || (!peer.empty() && address != peer))
      continue;
    of.session.link_down(
      context_.now(),
      fail(ec::unavailable, "the connection was cut on purpose"));
    pump(of);
  }
}

void calling_side::finish() {
  for (auto& [address, of] : callers_) {
    of.session.shut(context_.now());
    pump(of);
  }
  callers_.clear();
}

} // namespace graphmill
