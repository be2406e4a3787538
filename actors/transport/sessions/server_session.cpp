#include "actors/transport/sessions/server_session.hpp"

#include "actors/transport/sessions/address.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// How often kept replies are looked through for those past their time.
constexpr auto expiry_interval = std::chrono::seconds{1};

/// Of one that has no connection any more; it may be about to connect anew.
constexpr std::chrono::milliseconds silence_unconnected{5000};

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

// -- handshakes: the identity of a caller, and its key

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
  // The token proves the identity of a caller on the local socket.
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
  // A key has a daemon, and consumers of feeds: NAME/feed-NUMBER.
  if (listens && !holder.name.empty() && hello.name != holder.name
      && !hello.name.starts_with(holder.name + "/"))
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

// -- requests, from their arrival to their answer

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
