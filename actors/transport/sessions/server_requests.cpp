#include "actors/transport/sessions/server_session.hpp"

#include <algorithm>
#include <utility>

// The requests of a server session, from their arrival to their answer.

namespace graphmill {

namespace {

/// A request costs that much beside its frames, roughly.
constexpr std::uint64_t request_overhead = 1024;

/// How soon a request that finds no room comes again.
constexpr std::chrono::milliseconds room_pause{100};

error may_not_ask(const key_holder& holder, method what) {
  return fail(ec::permission,
              "the key is that of {}, which may not ask for `{}`: use one with "
              "a role that may (`graphmill keygen` makes them)",
              label_of(holder), to_string(what));
}

/// Of a peer's seat, which names its key, too.
std::string incarnation_of(const std::string& seat) {
  return seat.substr(0, seat.find(' '));
}

} // namespace

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
  const auto& who = caller.identity;
  if (!may_ask(who.holder.role, head.method)) {
    auto why = may_not_ask(who.holder, head.method);
    effects_.emplace_back(
      access_refusal{who, caller.host, head.method, why.message});
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
  const auto counts_as = class_of(head.method, !who.address.empty());
  if (shares_)
    if (auto refused =
          shares_->begin(now, who.incarnation, head.method, counts_as))
      return put_off(from, head, who, caller.host, *std::move(refused));
  ++caller.running;
  caller.bytes += bytes;
  bytes_ += bytes;
  const auto token = next_token_++;
  const auto deadline = now + head.time_left;
  running_.emplace(key, token);
  tasks_.emplace(token, task{key, head.method, counts_as, at.channel,
                             head.attempt, deadline, bytes, caller.home});
  effects_.emplace_back(deliver{token, head.method, caller.identity,
                                std::move(incoming.data), deadline,
                                caller.host});
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
  out.head.retry_after = room_pause;
  effects_.emplace_back(send{from, std::move(out)});
}

/// A client that would take more than its share; nothing of what it asks is
/// decoded.
void server_session::put_off(const connection_id& from, const envelope& head,
                             const peer_identity& who, const std::string& host,
                             client_shares::refusal how) {
  ++put_off_;
  auto out = answer_to(head, fail(ec::unavailable, "{}", how.why));
  out.head.retry_after = how.retry_after;
  effects_.emplace_back(send{from, std::move(out)});
  if (how.times > 0)
    effects_.emplace_back(access_refusal{
      who, host, head.method, std::move(how.why), how.times, ec::unavailable});
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
  if (shares_)
    shares_->ended(now, task.home, incarnation_of(task.key.first),
                   task.counts_as);
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

} // namespace graphmill
