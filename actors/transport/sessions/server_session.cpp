#include "actors/transport/sessions/server_session.hpp"

#include "actors/transport/sessions/address.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// How often kept replies are looked through for those past their time.
constexpr auto expiry_interval = std::chrono::seconds{1};

/// The limits of what a caller may wish as its time of silence.
constexpr std::chrono::milliseconds shortest_silence{100};
constexpr std::chrono::milliseconds longest_silence{60000};
/// Of one that has no connection any more; it may be about to connect anew.
constexpr std::chrono::milliseconds silence_unconnected{5000};

} // namespace

server_session::server_session(settings with)
  : with_(std::move(with)), kept_(with_.reply_cache_bytes) {
  if (with_.fair)
    shares_.emplace(*with_.fair, with_.max_peers);
}

std::vector<server_session::effect> server_session::take() {
  return std::exchange(effects_, {});
}

// -- messages

void server_session::receive(session_time now, const connection_id& from,
                             message incoming, bool is_local,
                             const std::string& host) {
  const auto at = connections_.find(from);
  const auto known = peers_.find(
    at == connections_.end() ? std::string{} : at->second.incarnation);
  if (known != peers_.end())
    known->second.last_heard = now;
  if (auto version = check_version(incoming.head, "the caller"); !version)
    return reply(from, incoming.head, std::move(version).error());
  if (incoming.head.kind == message_kind::request
      && incoming.head.method == method::hello)
    return hello(now, from, incoming, is_local, host);
  switch (incoming.head.kind) {
  case message_kind::request:
  case message_kind::beat:
    if (known == peers_.end()) {
      message stranger;
      stranger.head.kind = message_kind::stranger;
      stranger.head.id = incoming.head.id;
      effects_.emplace_back(send{from, std::move(stranger)});
    } else if (incoming.head.kind == message_kind::beat) {
      beat(from);
    } else {
      request(now, from, place{at->second}, std::move(incoming));
    }
    return;
  case message_kind::farewell:
    if (known != peers_.end())
      forget(now, known, peer_event::kind::left, {});
    return;
  default:
    malformed(from, "it sent what only servers send");
  }
}

void server_session::hello(session_time now, const connection_id& from,
                           const message& incoming, bool is_local,
                           const std::string& host) {
  auto hello = decode_hello(incoming.data.body);
  if (!hello)
    return malformed(from, hello.error().message);
  if (hello.value().oldest_version > protocol_version)
    return reply(from, incoming.head,
                 fail(ec::version_mismatch,
                      "the caller understands protocol {} at least, this side "
                      "speaks {}: use the same version of graphmill on both",
                      hello.value().oldest_version, protocol_version));
  if (is_local && !may_come_locally(hello.value()))
    return malformed(from, "it came by the local socket without the token of a "
                           "control channel");
  const auto at = connections_.find(from);
  if (at != connections_.end()
      && (at->second.incarnation != hello.value().incarnation
          || at->second.channel != hello.value().channel))
    return malformed(from, "it changed its identity");
  if (!peers_.contains(hello.value().incarnation)
      && !make_place(now, from, incoming.head, hello.value(), host))
    return;
  greet(now, from, hello.value(), host);
  auto self = with_.self;
  self.channel = hello.value().channel;
  if (with_.local && self.channel == channel::control)
    self.local_token = peers_.at(hello.value().incarnation).token =
      draw_identity();
  reply(from, incoming.head, payload{encode_hello(self), {}});
}

/// A newcomer of a host that has its share gets the place of the idlest peer of
/// the same host.
/// @returns false if there is none; then it has been told.
bool server_session::make_place(session_time now, const connection_id& from,
                                const envelope& head,
                                const hello_message& hello,
                                const std::string& host) {
  const auto home = host_group(host);
  if (shares_ && !shares_->has_place(home, hello.incarnation)) {
    const auto idle = shares_->idlest(now, home);
    if (!idle) {
      put_off(from, head, {hello.name, hello.incarnation, hello.address}, host,
              shares_->no_place(now, home));
      return false;
    }
    forget(now, peers_.find(*idle), peer_event::kind::lost,
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

/// A data channel may, while the control channel that got its token is there.
bool server_session::may_come_locally(const hello_message& hello) const {
  const auto known = peers_.find(hello.incarnation);
  if (known == peers_.end() || hello.channel != channel::data)
    return false;
  const auto& caller = known->second;
  const auto control = static_cast<std::size_t>(channel::control);
  return !caller.token.empty() && caller.token == hello.local_token
         && !caller.connections[control].empty() && !caller.gone[control];
}

void server_session::greet(session_time now, const connection_id& from,
                           const hello_message& hello,
                           const std::string& host) {
  const auto [at, is_new] = peers_.try_emplace(hello.incarnation);
  auto& caller = at->second;
  if (is_new) {
    caller.host = host;
    caller.home = host_group(host);
  }
  if (shares_)
    shares_->came(now, caller.home, hello.incarnation);
  caller.identity = {hello.name, hello.incarnation, hello.address};
  caller.last_heard = now;
  if (is_new) // It may be back, and have something running still.
    for (auto task = running_.lower_bound({hello.incarnation, 0});
         task != running_.end() && task->first.first == hello.incarnation;
         ++task) {
      const auto& known = tasks_.at(task->second);
      ++caller.running;
      caller.bytes += known.bytes;
      if (shares_)
        shares_->resume(hello.incarnation, known.method);
    }
  caller.lost_after =
    std::clamp(hello.lost_after, shortest_silence, longest_silence);
  auto& connection_id =
    caller.connections[static_cast<std::size_t>(hello.channel)];
  if (connection_id != from)
    leave_seat(connection_id); // It has connected anew.
  connection_id = from;
  caller.gone[static_cast<std::size_t>(hello.channel)] = false;
  connections_[from] = {hello.incarnation, hello.channel};
  if (is_new)
    effects_.emplace_back(
      peer_event{peer_event::kind::up, caller.identity, true, {}});
}

void server_session::leave_seat(connection_id& seat) {
  if (seat.empty())
    return;
  connections_.erase(seat);
  effects_.emplace_back(estrange{std::exchange(seat, {})});
}

/// What it has sent before is still to come, perhaps a farewell: it keeps its
/// place for that.
void server_session::disconnected(const connection_id& connection) {
  const auto at = connections_.find(connection);
  const auto known = peers_.find(
    at == connections_.end() ? std::string{} : at->second.incarnation);
  if (known == peers_.end())
    return;
  auto& caller = known->second;
  const auto channel = static_cast<std::size_t>(at->second.channel);
  if (caller.connections[channel] != connection)
    return;
  caller.gone[channel] = true;
  for (std::size_t i = 0; i < caller.connections.size(); ++i)
    if (!caller.gone[i] && !caller.connections[i].empty())
      return;
  if (shares_)
    shares_->unconnected(known->first);
  caller.lost_after =
    std::min<session_time::duration>(caller.lost_after, silence_unconnected);
}

void server_session::beat(const connection_id& from) {
  message back;
  back.head.kind = message_kind::beat;
  back.head.method = method::beat;
  effects_.emplace_back(send{from, std::move(back)});
}

void server_session::malformed(const connection_id& from, std::string reason) {
  const auto at = connections_.find(from);
  const auto known = peers_.find(
    at == connections_.end() ? std::string{} : at->second.incarnation);
  if (known == peers_.end())
    return end(from, std::move(reason));
  const auto channel = static_cast<std::size_t>(at->second.channel);
  known->second.connections[channel].clear();
  connections_.erase(at);
  end(from, fmt::format("{}: {}", known->second.identity.name, reason));
}

void server_session::end(const connection_id& connection, std::string reason) {
  effects_.emplace_back(drop{connection, std::move(reason)});
}

// -- time

void server_session::tick(session_time now) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    const auto caller = at++;
    const auto limit = caller->second.lost_after;
    if (now - caller->second.last_heard < limit)
      continue;
    const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
    forget(now, caller, peer_event::kind::lost,
           fmt::format("it was silent for {} ms", ms));
  }
  if (now >= next_expiry_) {
    kept_.expire(now);
    next_expiry_ = now + expiry_interval;
  }
}

session_time server_session::next_tick() const {
  auto next = kept_.size() == 0 ? session_time::max() : next_expiry_;
  for (const auto& [incarnation, caller] : peers_)
    next = std::min(next, caller.last_heard + caller.lost_after);
  return next;
}

/// What runs for it goes on, and what was kept stays until its time is over: it
/// may be back.
void server_session::forget(session_time now,
                            std::map<std::string, peer>::iterator caller,
                            peer_event::kind change, std::string reason) {
  for (auto& connection_id : caller->second.connections)
    leave_seat(connection_id);
  effects_.emplace_back(
    peer_event{change, caller->second.identity, true, std::move(reason)});
  if (shares_)
    shares_->left(now, caller->first);
  peers_.erase(caller);
}

void server_session::keep(const std::string& address,
                          const std::string& incarnation) {
  if (shares_)
    shares_->keep(address, incarnation);
}

void server_session::unkeep(const std::string& address) {
  if (shares_)
    shares_->unkeep(address);
}

} // namespace graphmill
