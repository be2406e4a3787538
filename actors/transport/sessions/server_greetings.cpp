#include "actors/transport/sessions/server_session.hpp"

#include "actors/transport/sessions/address.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <utility>

// Handshakes: who is there, and with whose key.

namespace graphmill {

namespace {

/// The limits of what a caller may wish as its time of silence.
constexpr std::chrono::milliseconds shortest_silence{100};
constexpr std::chrono::milliseconds longest_silence{60000};

/// An incarnation belongs to the key with which it greeted.
std::string seat_of(const std::string& incarnation, const std::string& key) {
  return incarnation + ' ' + key;
}

error revoked(const key_holder& holder) {
  return fail(ec::permission,
              "the key of {} has been revoked, or has another role now",
              label_of(holder));
}

} // namespace

void server_session::hello(session_time now, const connection_id& from,
                           const message& incoming,
                           const message_origin& whence) {
  auto hello = decode_hello(incoming.data.body);
  if (!hello)
    return malformed(from, hello.error().message);
  if (hello.value().oldest_version > protocol_version)
    return reply(from, incoming.head,
                 fail(ec::version_mismatch,
                      "the caller understands protocol {} at least, this side "
                      "speaks {}: use the same version of graphmill on both",
                      hello.value().oldest_version, protocol_version));
  if (whence.is_local && !may_come_locally(hello.value()))
    return malformed(from, "it came by the local socket without the token of a "
                           "control channel");
  const auto met = find_incarnation(hello.value().incarnation);
  // By the local socket it is whoever got the token.
  const auto& who =
    whence.is_local ? met->second.identity.holder : whence.holder;
  if (auto fits = check_holder(hello.value(), who); !fits) {
    effects_.emplace_back(note{
      fmt::format("refused {}: {}", hello.value().name, fits.error().message)});
    return reply(from, incoming.head, std::move(fits).error());
  }
  const auto at = connections_.find(from);
  if (at != connections_.end()
      && (at->second.seat != seat_of(hello.value().incarnation, who.key)
          || at->second.channel != hello.value().channel))
    return malformed(from, "it changed its identity");
  if (met == peers_.end()
      && !make_place(now, from, incoming.head, hello.value(), whence))
    return;
  // A copy, for `who` may be of the peer that is greeted.
  const auto seat = greet(now, from, hello.value(),
                          {whence.is_local, key_holder{who}, whence.host});
  auto self = with_.self;
  self.channel = hello.value().channel;
  if (with_.local && self.channel == channel::control)
    self.local_token = peers_.at(seat).token = draw_identity();
  reply(from, incoming.head, payload{encode_hello(self), {}});
}

/// A newcomer of a host that has its share gets the place of the idlest peer of
/// the same host.
/// @returns false if there is none; then it has been told.
bool server_session::make_place(session_time now, const connection_id& from,
                                const envelope& head,
                                const hello_message& hello,
                                const message_origin& whence) {
  const auto home = host_group(whence.host);
  if (shares_ && !shares_->has_place(home, hello.incarnation)) {
    const auto idle = shares_->idlest(now, home);
    if (!idle) {
      put_off(from, head,
              {hello.name, hello.incarnation, hello.address, whence.holder},
              whence.host, shares_->no_place(now, home));
      return false;
    }
    forget(now, find_incarnation(*idle), peer_event::kind::lost,
           "it was idle, and its place was needed");
  }
  if (peers_.size() < with_.max_peers)
    return true;
  auto full =
    fail(ec::unavailable,
         "{} serves {} already, and its descriptors allow for no more: raise "
         "the limit of open files there (ulimit -Hn)",
         with_.self.name, pluralized(peers_.size(), "peer"));
  effects_.emplace_back(
    note{fmt::format("refused {}: {}", hello.name, full.message)});
  reply(from, head, std::move(full));
  return false;
}

/// Whoever is there with this incarnation.
server_session::peers_by_seat::iterator
server_session::find_incarnation(const std::string& incarnation) {
  const auto at = peers_.lower_bound(seat_of(incarnation, {}));
  return at != peers_.end() && at->second.identity.incarnation == incarnation
           ? at
           : peers_.end();
}

/// A data channel may, while the control channel that got its token is there.
bool server_session::may_come_locally(const hello_message& hello) {
  const auto known = find_incarnation(hello.incarnation);
  if (known == peers_.end() || hello.channel != channel::data)
    return false;
  const auto& caller = known->second;
  const auto control = static_cast<std::size_t>(channel::control);
  return !caller.token.empty() && caller.token == hello.local_token
         && !caller.connections[control].empty() && !caller.gone[control];
}

/// Whether the holder of a key may say of itself what it says. Where keys have
/// no roles, everybody may say everything.
result<void> server_session::check_holder(const hello_message& hello,
                                          const key_holder& holder) {
  const auto met = find_incarnation(hello.incarnation);
  if (met != peers_.end() && met->second.identity.holder.key != holder.key)
    return fail(ec::permission,
                "somebody else is here with the same incarnation");
  if (holder.role == key_role::all)
    return ok();
  const auto listens =
    holder.role == key_role::coordinator || holder.role == key_role::daemon;
  if (listens && !holder.name.empty() && hello.name != holder.name)
    return fail(ec::permission,
                "the key is that of {}, but whoever shows it is called \"{}\": "
                "start a daemon under the name of its key, and use a key of "
                "their own for clients",
                label_of(holder), hello.name);
  if (!listens && !hello.address.empty())
    return fail(ec::permission,
                "the key is that of {}, with which nobody can be a daemon",
                label_of(holder));
  return ok();
}

/// @returns the peer's place among peers.
std::string server_session::greet(session_time now, const connection_id& from,
                                  const hello_message& hello,
                                  const message_origin& whence) {
  const auto& holder = whence.holder;
  const auto seat = seat_of(hello.incarnation, holder.key);
  const auto [at, is_new] = peers_.try_emplace(seat);
  auto& caller = at->second;
  if (is_new) {
    caller.host = whence.host;
    caller.home = host_group(whence.host);
  }
  if (shares_)
    shares_->came(now, caller.home, hello.incarnation);
  caller.identity = {hello.name, hello.incarnation, hello.address,
                     holder,     hello.cluster,     hello.generation};
  caller.last_heard = now;
  if (is_new) // It may be back, and have something running still.
    for (auto task = running_.lower_bound({seat, 0});
         task != running_.end() && task->first.first == seat; ++task) {
      const auto& known = tasks_.at(task->second);
      ++caller.running;
      caller.bytes += known.bytes;
      if (shares_)
        shares_->resume(hello.incarnation, known.counts_as);
    }
  caller.lost_after =
    std::clamp(hello.lost_after, shortest_silence, longest_silence);
  auto& connection_id =
    caller.connections[static_cast<std::size_t>(hello.channel)];
  if (connection_id != from)
    leave_seat(connection_id); // It has connected anew.
  connection_id = from;
  caller.gone[static_cast<std::size_t>(hello.channel)] = false;
  connections_[from] = {seat, hello.channel, whence.is_local ? "" : holder.key};
  if (is_new)
    effects_.emplace_back(
      peer_event{peer_event::kind::up, caller.identity, true, {}});
  return seat;
}

/// What has been delivered already goes on; its answer reaches nobody.
void server_session::look_at_keys(
  session_time now, const std::function<bool(const key_holder&)>& is_sound) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    const auto caller = at++;
    const auto holder = caller->second.identity.holder;
    if (is_sound(holder))
      continue;
    const auto why = revoked(holder);
    std::vector<std::uint64_t> tokens;
    for (auto task = running_.lower_bound({caller->first, 0});
         task != running_.end() && task->first.first == caller->first; ++task)
      tokens.push_back(task->second);
    for (const auto token : tokens)
      answer(now, token, why);
    for (auto& seat : caller->second.connections)
      if (!seat.empty()) {
        connections_.erase(seat);
        end(std::exchange(seat, {}),
            fmt::format("{}: {}", caller->second.identity.name, why.message));
      }
    forget(now, caller, peer_event::kind::lost, why.message);
  }
}

} // namespace graphmill
