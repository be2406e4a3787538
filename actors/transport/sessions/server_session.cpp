#include "actors/transport/sessions/server_session.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// How often kept replies are looked through for those past their time.
constexpr auto expiry_interval = std::chrono::seconds{1};

/// A request costs that much beside its frames, roughly.
constexpr std::uint64_t request_overhead = 1024;

/// How soon a request that finds no room comes again.
constexpr std::chrono::milliseconds pause{100};

/// Of one that has no connection any more; it may be about to connect anew.
constexpr std::chrono::milliseconds silence_unconnected{5000};

error may_not_ask(const key_holder& holder, method what) {
  return fail(ec::permission,
              "the key is that of {}, which may not ask for `{}`: use one with "
              "a role that may (`graphmill keygen` makes them)",
              label_of(holder), to_string(what));
}

} // namespace

server_session::server_session(settings with)
  : with_(std::move(with)), kept_(with_.reply_cache_bytes) {}

std::vector<server_session::effect> server_session::take() {
  return std::exchange(effects_, {});
}

// -- messages

void server_session::receive(session_time now, const connection_id& from,
                             message incoming, bool is_local,
                             const key_holder& holder) {
  const auto at = connections_.find(from);
  const auto shown = is_local ? std::string_view{} : holder.key;
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
    return hello(now, from, incoming, is_local, holder);
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
      forget(known, peer_event::kind::left, {});
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

// -- requests

void server_session::request(session_time now, const connection_id& from,
                             const place& at, message incoming) {
  const auto& head = incoming.head;
  if (head.id == 0)
    return malformed(from, "a request without id");
  if (!is_known(head.method) || head.method == method::beat)
    return reply(from, head,
                 fail(ec::version_mismatch,
                      "method {} is not known here: use the same version of "
                      "graphmill on both sides",
                      static_cast<int>(head.method)));
  auto& caller = peers_.at(at.seat);
  const auto& holder = caller.identity.holder;
  if (!may_ask(holder.role, head.method)) {
    auto why = may_not_ask(holder, head.method);
    effects_.emplace_back(
      note{fmt::format("refused {}: {}", caller.identity.name, why.message)});
    return reply(from, head, std::move(why));
  }
  const request_key key{at.seat, head.id};
  if (const auto same = running_.find(key); same != running_.end()) {
    auto& task = tasks_.at(same->second);
    task.attempt = std::max(task.attempt, head.attempt);
    ++duplicates_;
    return;
  }
  if (const auto* before = kept_.find(key)) {
    ++duplicates_;
    auto again = *before;
    again.head.attempt = head.attempt;
    effects_.emplace_back(send{from, std::move(again)});
    return;
  }
  const auto bytes = request_overhead + incoming.data.byte_size();
  if (!has_room(caller, bytes))
    return come_again(from, head, caller);
  ++caller.running;
  caller.bytes += bytes;
  bytes_ += bytes;
  const auto token = next_token_++;
  const auto deadline = now + head.time_left;
  running_.emplace(key, token);
  tasks_.emplace(
    token, task{key, head.method, at.channel, head.attempt, deadline, bytes});
  effects_.emplace_back(deliver{token, head.method, caller.identity,
                                std::move(incoming.data), deadline});
}

bool server_session::has_room(const peer& caller, std::uint64_t bytes) const {
  return caller.running < with_.max_running
         && (bytes_ == 0 || bytes_ + bytes <= with_.max_bytes)
         && (caller.bytes == 0 || caller.bytes + bytes <= with_.max_peer_bytes);
}

void server_session::come_again(const connection_id& from, const envelope& head,
                                const peer& caller) {
  ++put_off_;
  effects_.emplace_back(note{fmt::format(
    "requests under way take {} bytes, {} of them those of {}: it has to ask "
    "again",
    bytes_, caller.bytes, caller.identity.name)});
  auto out = answer_to(
    head, fail(ec::unavailable,
               "requests of {} bytes are under way already, {} requests of {} "
               "bytes for {} alone; ask for less at once",
               bytes_, caller.running, caller.bytes, caller.identity.name));
  out.head.retry_after = pause;
  effects_.emplace_back(send{from, std::move(out)});
}

void server_session::answer(session_time now, std::uint64_t token,
                            result<payload> answer) {
  const auto at = tasks_.find(token);
  if (at == tasks_.end())
    return;
  const auto task = std::move(at->second);
  tasks_.erase(at);
  running_.erase(task.key);
  bytes_ -= task.bytes;
  if (answer)
    if (auto fits = check_size(answer.value()); !fits)
      answer = fail(ec::internal, "the reply to {} is {}",
                    to_string(task.method), fits.error().message);
  envelope question;
  question.id = task.key.second;
  question.method = task.method;
  question.attempt = task.attempt;
  auto out = answer_to(question, std::move(answer));
  if (!traits_of(task.method).idempotent)
    kept_.put(task.key, out, std::max(task.deadline, now));
  const auto caller = peers_.find(task.key.first);
  if (caller == peers_.end())
    return; // It may come back and ask again.
  --caller->second.running;
  caller->second.bytes -= task.bytes;
  if (now > task.deadline)
    return; // Nobody waits for it any more.
  const auto& connection_id =
    caller->second.connections[static_cast<std::size_t>(task.channel)];
  if (!connection_id.empty())
    effects_.emplace_back(send{connection_id, std::move(out)});
}

message server_session::answer_to(const envelope& question,
                                  result<payload> answer) const {
  message out;
  out.head.kind = message_kind::reply;
  out.head.id = question.id;
  out.head.method = question.method;
  out.head.attempt = question.attempt;
  out.head.failed = !answer;
  if (answer)
    out.data = std::move(answer).value();
  else
    out.head.failure = std::move(answer).error();
  // No more of it is sent, so that no more of it waits, nor the room of it.
  auto& text = out.head.failure.message;
  if (text.size() > max_failure_text)
    text = text.substr(0, max_failure_text);
  return out;
}

void server_session::reply(const connection_id& to, const envelope& question,
                           result<payload> answer) {
  effects_.emplace_back(send{to, answer_to(question, std::move(answer))});
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
    forget(caller, peer_event::kind::lost,
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
void server_session::forget(peers_by_seat::iterator caller,
                            peer_event::kind change, std::string reason) {
  for (auto& connection_id : caller->second.connections)
    leave_seat(connection_id);
  effects_.emplace_back(
    peer_event{change, caller->second.identity, true, std::move(reason)});
  peers_.erase(caller);
}

} // namespace graphmill
