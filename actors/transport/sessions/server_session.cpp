#include "actors/transport/sessions/server_session.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// How often kept replies are looked through for those past their time.
constexpr auto expiry_interval = std::chrono::seconds{1};

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
                             message incoming, const message_origin& whence) {
  const auto at = connections_.find(from);
  const auto shown = whence.is_local ? std::string_view{} : whence.holder.key;
  if (at != connections_.end() && at->second.key != shown)
    return malformed(from, "it changed its key");
  const auto known =
    peers_.find(at == connections_.end() ? std::string{} : at->second.seat);
  if (known != peers_.end())
    known->second.last_heard = now;
  if (auto version = check_version(incoming.head, "the caller"); !version)
    return reply(from, incoming.head, std::move(version).error());
  if (incoming.head.kind == message_kind::request
      && incoming.head.method == method::hello)
    return hello(now, from, incoming, whence);
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
  const auto known =
    peers_.find(at == connections_.end() ? std::string{} : at->second.seat);
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
    shares_->unconnected(caller.identity.incarnation);
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
  const auto known =
    peers_.find(at == connections_.end() ? std::string{} : at->second.seat);
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
  for (const auto& [seat, caller] : peers_)
    next = std::min(next, caller.last_heard + caller.lost_after);
  return next;
}

/// What runs for it goes on, and what was kept stays until its time is over: it
/// may be back.
void server_session::forget(session_time now, peers_by_seat::iterator caller,
                            peer_event::kind change, std::string reason) {
  for (auto& connection_id : caller->second.connections)
    leave_seat(connection_id);
  effects_.emplace_back(
    peer_event{change, caller->second.identity, true, std::move(reason)});
  if (shares_)
    shares_->left(now, caller->second.identity.incarnation);
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
