#include "actors/transport/sessions/server_session.hpp"

#include "messages/base/counted.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// How often kept replies are looked through for those past their time.
constexpr auto expiry_interval = std::chrono::seconds{1};

/// A request costs that much beside its frames, roughly.
constexpr std::uint64_t request_overhead = 1024;

/// How soon a request that finds no room comes again.
constexpr std::chrono::milliseconds pause{100};

/// The limits of what a caller may wish as its time of silence.
constexpr std::chrono::milliseconds shortest_silence{100};
constexpr std::chrono::milliseconds longest_silence{60000};
/// Of one that has no connection any more; it may be about to connect anew.
constexpr std::chrono::milliseconds silence_unconnected{5000};

} // namespace

server_session::server_session(settings with)
  : with_(std::move(with)), kept_(with_.reply_cache_bytes) {}

std::vector<server_session::effect> server_session::take() {
  return std::exchange(effects_, {});
}

// -- messages

void server_session::receive(session_time now, const route& from,
                             message what) {
  const auto at = routes_.find(from);
  const auto known =
    peers_.find(at == routes_.end() ? std::string{} : at->second.incarnation);
  if (known != peers_.end())
    known->second.last_heard = now;
  if (auto version = check_version(what.head, "the caller"); !version)
    return reply(from, what.head, std::move(version).error());
  if (what.head.kind == message_kind::request
      && what.head.method == method::hello)
    return hello(now, from, what);
  switch (what.head.kind) {
  case message_kind::request:
  case message_kind::beat:
    if (known == peers_.end()) {
      message stranger;
      stranger.head.kind = message_kind::stranger;
      stranger.head.id = what.head.id;
      effects_.emplace_back(send{from, std::move(stranger)});
    } else if (what.head.kind == message_kind::beat) {
      beat(from);
    } else {
      request(now, from, place{at->second}, std::move(what));
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

void server_session::hello(session_time now, const route& from,
                           const message& what) {
  auto hello = decode_hello(what.data.body);
  if (!hello)
    return malformed(from, hello.error().message);
  if (hello.value().oldest_version > protocol_version)
    return reply(from, what.head,
                 fail(ec::version_mismatch,
                      "the caller understands protocol {} at least, this side "
                      "speaks {}: use the same version of graphmill on both",
                      hello.value().oldest_version, protocol_version));
  const auto at = routes_.find(from);
  if (at != routes_.end()
      && (at->second.incarnation != hello.value().incarnation
          || at->second.lane != hello.value().lane))
    return malformed(from, "it changed its identity");
  if (peers_.size() >= with_.max_peers
      && !peers_.contains(hello.value().incarnation)) {
    auto full =
      fail(ec::unavailable,
           "{} serves {} already, and its descriptors allow for no more: raise "
           "the limit of open files there (ulimit -Hn)",
           with_.self.name, counted(peers_.size(), "peer"));
    effects_.emplace_back(
      note{fmt::format("refused {}: {}", hello.value().name, full.message)});
    return reply(from, what.head, std::move(full));
  }
  greet(now, from, hello.value());
  auto self = with_.self;
  self.lane = hello.value().lane;
  reply(from, what.head, payload{encode_hello(self), {}});
}

void server_session::greet(session_time now, const route& from,
                           const hello_message& hello) {
  const auto [at, is_new] = peers_.try_emplace(hello.incarnation);
  auto& who = at->second;
  who.who = {hello.name, hello.incarnation, hello.address};
  who.last_heard = now;
  if (is_new) // It may be back, and have something running still.
    for (auto task = running_.lower_bound({hello.incarnation, 0});
         task != running_.end() && task->first.first == hello.incarnation;
         ++task) {
      ++who.running;
      who.bytes += tasks_.at(task->second).bytes;
    }
  who.lost_after =
    std::clamp(hello.lost_after, shortest_silence, longest_silence);
  auto& route = who.routes[static_cast<std::size_t>(hello.lane)];
  if (route != from)
    leave_seat(route); // It has connected anew.
  route = from;
  who.gone[static_cast<std::size_t>(hello.lane)] = false;
  routes_[from] = {hello.incarnation, hello.lane};
  if (is_new)
    effects_.emplace_back(peer_event{peer_event::kind::up, who.who, true, {}});
}

void server_session::leave_seat(route& seat) {
  if (seat.empty())
    return;
  routes_.erase(seat);
  effects_.emplace_back(estrange{std::exchange(seat, {})});
}

/// What it has sent before is still to come, perhaps a farewell: it keeps its
/// place for that.
void server_session::disconnected(const route& whom) {
  const auto at = routes_.find(whom);
  const auto known =
    peers_.find(at == routes_.end() ? std::string{} : at->second.incarnation);
  if (known == peers_.end())
    return;
  auto& who = known->second;
  const auto lane = static_cast<std::size_t>(at->second.lane);
  if (who.routes[lane] != whom)
    return;
  who.gone[lane] = true;
  for (std::size_t i = 0; i < who.routes.size(); ++i)
    if (!who.gone[i] && !who.routes[i].empty())
      return;
  who.lost_after =
    std::min<session_time::duration>(who.lost_after, silence_unconnected);
}

void server_session::beat(const route& from) {
  message back;
  back.head.kind = message_kind::beat;
  back.head.method = method::beat;
  effects_.emplace_back(send{from, std::move(back)});
}

void server_session::malformed(const route& from, std::string reason) {
  const auto at = routes_.find(from);
  const auto known =
    peers_.find(at == routes_.end() ? std::string{} : at->second.incarnation);
  if (known == peers_.end())
    return end(from, std::move(reason));
  const auto lane = static_cast<std::size_t>(at->second.lane);
  known->second.routes[lane].clear();
  routes_.erase(at);
  end(from, fmt::format("{}: {}", known->second.who.name, reason));
}

void server_session::end(const route& whom, std::string reason) {
  effects_.emplace_back(drop{whom, std::move(reason)});
}

// -- requests

void server_session::request(session_time now, const route& from,
                             const place& at, message what) {
  const auto& head = what.head;
  if (head.id == 0)
    return malformed(from, "a request without id");
  if (!is_known(head.method) || head.method == method::beat)
    return reply(from, head,
                 fail(ec::version_mismatch,
                      "method {} is not known here: use the same version of "
                      "graphmill on both sides",
                      static_cast<int>(head.method)));
  const request_key key{at.incarnation, head.id};
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
  auto& who = peers_.at(at.incarnation);
  const auto bytes = request_overhead + what.data.byte_size();
  if (!has_room(who, bytes))
    return come_again(from, head, who);
  ++who.running;
  who.bytes += bytes;
  bytes_ += bytes;
  const auto token = next_token_++;
  const auto deadline = now + head.time_left;
  running_.emplace(key, token);
  tasks_.emplace(
    token, task{key, head.method, at.lane, head.attempt, deadline, bytes});
  effects_.emplace_back(
    deliver{token, head.method, who.who, std::move(what.data), deadline});
}

bool server_session::has_room(const peer& who, std::uint64_t bytes) const {
  return who.running < with_.max_running
         && (bytes_ == 0 || bytes_ + bytes <= with_.max_bytes)
         && (who.bytes == 0 || who.bytes + bytes <= with_.max_peer_bytes);
}

void server_session::come_again(const route& from, const envelope& head,
                                const peer& who) {
  ++put_off_;
  effects_.emplace_back(note{fmt::format(
    "requests under way take {} bytes, {} of them those of {}: it has to ask "
    "again",
    bytes_, who.bytes, who.who.name)});
  auto out = answer_to(
    head, fail(ec::unavailable,
               "requests of {} bytes are under way already, {} requests of {} "
               "bytes for {} alone; ask for less at once",
               bytes_, who.running, who.bytes, who.who.name));
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
  const auto who = peers_.find(task.key.first);
  if (who == peers_.end())
    return; // It may come back and ask again.
  --who->second.running;
  who->second.bytes -= task.bytes;
  if (now > task.deadline)
    return; // Nobody waits for it any more.
  const auto& route = who->second.routes[static_cast<std::size_t>(task.lane)];
  if (!route.empty())
    effects_.emplace_back(send{route, std::move(out)});
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

void server_session::reply(const route& to, const envelope& question,
                           result<payload> answer) {
  effects_.emplace_back(send{to, answer_to(question, std::move(answer))});
}

// -- time

void server_session::tick(session_time now) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    const auto who = at++;
    const auto limit = who->second.lost_after;
    if (now - who->second.last_heard < limit)
      continue;
    const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
    forget(who, peer_event::kind::lost,
           fmt::format("it was silent for {} ms", ms));
  }
  if (now >= next_expiry_) {
    kept_.expire(now);
    next_expiry_ = now + expiry_interval;
  }
}

session_time server_session::next_tick() const {
  auto next = kept_.size() == 0 ? session_time::max() : next_expiry_;
  for (const auto& [incarnation, who] : peers_)
    next = std::min(next, who.last_heard + who.lost_after);
  return next;
}

/// What runs for it goes on, and what was kept stays until its time is over: it
/// may be back.
void server_session::forget(std::map<std::string, peer>::iterator who,
                            peer_event::kind what, std::string reason) {
  for (auto& route : who->second.routes)
    leave_seat(route);
  effects_.emplace_back(
    peer_event{what, who->second.who, true, std::move(reason)});
  peers_.erase(who);
}

} // namespace graphmill
