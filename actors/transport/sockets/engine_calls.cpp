#include "actors/transport/sockets/engine.hpp"

#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <utility>

// The calling side of the engine.

namespace graphmill {

namespace {

/// Messages taken from a socket before others have their turn.
constexpr int control_turn = 64;
constexpr int data_turn = 4;

constexpr std::chrono::milliseconds farewell_linger{200};

constexpr auto answer_to_us = "what follows from an answer";

} // namespace

void engine::obey(mailbox::request& request) {
  auto of = caller_of(request.address);
  if (!of)
    return guarded(answer_to_us, [&request, &of] {
      request.on_reply(std::move(of).error());
    });
  auto& to = *of.value();
  to.session.request(now(), next_id_++, request.method, std::move(request.data),
                     request.options, std::move(request.on_reply));
  pump(to);
}

void engine::obey(const mailbox::keep& request) {
  auto of = caller_of(request.address);
  if (!of)
    return log(of.error().message);
  auto& session = of.value()->session;
  if (request.on) {
    session.keep(now());
  } else {
    session.forget(now());
    server_->unkeep(session.address());
  }
  pump(*of.value());
}

/// The key of whoever listens at an address. Nothing if the keys have roles and
/// nobody has said who is there.
std::optional<std::string>
engine::server_key_of(const std::string& address) const {
  if (!options_.keys)
    return std::string{};
  const auto& ours = *options_.keys;
  if (ours.role == key_role::all || address == hello_.address)
    return ours.public_key;
  if (const auto known = table_->servers.find(address);
      known != table_->servers.end())
    return known->second;
  if (ours.role == key_role::coordinator)
    return std::nullopt;
  return ours.coordinator_key; // However the user calls its address.
}

/// Ends connections to those who have another key now, or none.
void engine::look_at_server_keys() {
  for (auto& [address, of] : callers_) {
    const auto key = server_key_of(address);
    if (!of.link || key == of.link->server_key())
      continue;
    of.session.link_down(now(),
                         key ? fail(ec::unavailable, "it has another key now")
                             : fail(ec::permission,
                                    "the key of the daemon at {} has been "
                                    "revoked",
                                    address));
    pump(of);
  }
}

/// Whoever asks at an address, made if there is none.
result<engine::caller*> engine::caller_of(const std::string& address) {
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
  caller_session::settings with{
    hello_, options_.liveness, mix64(options_.seed + callers_made_++),
    options_.queue_bytes, options_.keys.has_value()};
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

void engine::serve_callers() {
  for (auto at = callers_.begin(); at != callers_.end();) {
    auto& of = at->second;
    for (const auto over : {channel::control, channel::data}) {
      const auto turn = over == channel::control ? control_turn : data_turn;
      for (int i = 0; i < turn && of.link; ++i) {
        auto got = of.link->receive(over);
        if (!got)
          break;
        if (got->content) {
          if (!std::exchange(of.seen, true)) {
            of.seen_at =
              other_end(got->descriptor, of.where.port).value_or(of.where);
            of.here = stays_here(got->descriptor);
          }
          const auto failed = taken([this, &of, &got, over] {
            of.session.receive(now(), over, std::move(*got->content));
          });
          if (failed)
            of.session.link_down(now(), *failed);
        } else {
          ++counters_->malformed;
          of.session.link_down(
            now(), fail(ec::invalid_data, "it sent {}", got->reason));
        }
        pump(of);
      }
    }
    if (of.link)
      if (const auto failure = of.link->broken(now()))
        broke(of, *failure);
    if (const auto refused = of.probe ? of.probe->refused() : std::nullopt) {
      of.probe.reset();
      of.session.probed(now(), *refused);
    }
    pump(of);
    if (of.link)
      of.link->flush();
    if (of.session.idle() && !of.link) {
      links_->forget(at->first);
      at = callers_.erase(at);
    } else {
      ++at;
    }
  }
}

void engine::broke(caller& of, const link_failure& failure) {
  if (of.probe) // Not even refused until now: that was silence.
    of.session.probed(now(), false);
  of.probe.reset();
  if (of.session.link_down(now(), failure.reason, failure.certain))
    complain(fmt::format("{} does not let us in: {}", of.session.address(),
                         failure.reason.message));
  if (failure.reason.code == ec::unavailable && of.session.worth_probing())
    of.probe = std::make_unique<port_probe>(of.seen_at);
}

void engine::pump(caller& of) {
  for (auto& effect : of.session.take())
    act(of, effect);
  const auto& counts = of.session.counters();
  counters_->retries += counts.retries - of.reported.retries;
  of.reported = counts;
  tell_link(of);
}

/// Leaves on the board what has changed of a link.
void engine::tell_link(caller& of) {
  const auto state = of.session.link();
  if (of.told == state)
    return;
  of.told = state;
  links_->asks(of.session.address(), of.session.peer_name(), state,
               of.session.reason(), link_board::clock::now());
}

void engine::act(caller& of, caller_session::effect& effect) {
  using session = caller_session;
  if (const auto* how = std::get_if<session::open_link>(&effect)) {
    open(of, *how);
  } else if (const auto* end = std::get_if<session::close_link>(&effect)) {
    held_.forget(of.session.address());
    if (of.link && end->flush) {
      of.link->flush();
      of.link->linger(farewell_linger);
    }
    of.link.reset();
  } else if (auto* out = std::get_if<session::send>(&effect)) {
    if (of.link
        && !holds({of.session.address(), false, out->channel}, out->content))
      of.link->send(out->channel, std::move(out->content));
  } else if (auto* done = std::get_if<session::finish>(&effect)) {
    guarded(answer_to_us, [done] { done->on_reply(std::move(done->answer)); });
  } else if (const auto* said = std::get_if<session::note>(&effect)) {
    log(said->sentence);
  } else if (const auto* news = std::get_if<peer_event>(&effect)) {
    if (news->change != peer_event::kind::lost) // It may be back soon.
      server_->keep(of.session.address(), news->identity.incarnation);
    tell(*news);
  }
}

void engine::open(caller& of, const caller_session::open_link& how) {
  if (how.channel == channel::control) {
    of.link.reset();
    of.seen = of.here = false;
    if (!has_room_for_link()) {
      of.session.link_down(
        now(), fail(ec::unavailable,
                    "{} is connected to {}, and its descriptors allow no more: "
                    "raise its limit of open files (ulimit -Hn)",
                    options_.name, pluralized(quota_.peers, "peer")));
      return;
    }
    auto key = server_key_of(of.session.address());
    if (!key) {
      of.session.link_down(now(),
                           fail(ec::permission,
                                "no member of the cluster is known to be at {}",
                                of.session.address()));
      return;
    }
    of.link = std::make_unique<peer_link>(of.where, options_.keys,
                                          std::move(*key), *counters_);
  }
  if (!of.link) // It has failed in the meantime.
    return;
  try {
    connect(of, how);
  } catch (const zmq::error_t& broken) {
    of.link.reset();
    of.session.link_down(now(), fail(ec::io, "cannot open a socket to {}: {}",
                                     to_string(of.where), broken.what()));
  }
}

void engine::connect(caller& of, const caller_session::open_link& how) {
  // One that is not here may have a namesake, but no socket of ours.
  const auto file = how.local.empty() || !of.here
                      ? std::nullopt
                      : find_local_socket(local_folder_, how.local);
  if (!file)
    return of.link->connect(context_, how.channel);
  of.link->connect_locally(context_, how.channel, *file);
  ++counters_->local_channels;
}

bool engine::has_room_for_link() const {
  const auto links = static_cast<std::size_t>(std::ranges::count_if(
    callers_, [](const auto& known) { return known.second.link != nullptr; }));
  return links < quota_.peers;
}

} // namespace graphmill
