#include "actors/transport/sessions/caller_session.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

caller_session::caller_session(std::string address, settings with)
  : address_(std::move(address)), with_(std::move(with)),
    back_off_(with_.liveness.retry_first, with_.liveness.retry_last,
              with_.seed) {
  with_.self.beat_every = with_.liveness.beat_every;
  with_.self.lost_after = with_.liveness.lost_after;
}

// -- what others want

void caller_session::keep(session_time now) {
  if (kept_) {
    // Whoever keeps it again has reason to think that it is there.
    if (state_ == state::waiting)
      retry_at_ = std::min(retry_at_, now);
    return;
  }
  kept_ = true;
  wanted_since_ = now;
  reported_lost_ = reported_up_ = false;
  if (state_ == state::closed)
    open(now);
  else if (state_ == state::ready) {
    reported_up_ = true;
    notify(peer_event::kind::up);
  }
}

void caller_session::forget(session_time now) {
  kept_ = false;
  idle_since_ = now;
}

bool caller_session::idle() const {
  return state_ == state::closed && !wanted();
}

std::vector<caller_session::effect> caller_session::take() {
  return std::exchange(effects_, {});
}

// -- connecting

void caller_session::open(session_time now) {
  state_ = state::opening;
  opened_ = now;
  data_open_ = false;
  refused_ = false;
  local_.clear();
  effects_.emplace_back(open_link{channel::control, {}});
  say_hello(now);
}

void caller_session::say_hello(session_time now) {
  greeted_ = {};
  opened_ = now;
  send_hello(channel::control, {});
  if (!with_.control_first)
    greet_data({});
}

/// @param met Whom the control channel has met, if that was to come first.
void caller_session::greet_data(const hello_message& met) {
  if (!std::exchange(data_open_, true)) {
    if (!met.local_token.empty() && met.incarnation != avoided_)
      local_ = met.incarnation;
    effects_.emplace_back(open_link{channel::data, local_});
  }
  send_hello(channel::data, local_.empty() ? "" : met.local_token);
}

void caller_session::send_hello(channel over, std::string token) {
  message hello;
  hello.head.kind = message_kind::request;
  hello.head.method = method::hello;
  hello.head.attempt = 1;
  with_.self.channel = over;
  with_.self.local_token = std::move(token);
  hello.data.body = encode_hello(with_.self);
  effects_.emplace_back(send{over, std::move(hello)});
}

/// Closes both connections and tries again later, if somebody wants that.
void caller_session::reset(session_time now, std::string reason) {
  if (state_ == state::opening || state_ == state::ready)
    effects_.emplace_back(close_link{});
  // Next time by the port: what is wrong with the socket may stay so.
  const auto [control, data] = greeted_;
  if (state_ == state::opening && control && !data && !local_.empty())
    avoided_ = local_;
  reason_ = std::move(reason);
  if (wanted()) {
    state_ = state::waiting;
    auto pause = back_off_.next();
    // Each attempt brings a probe, and several within `refused_after` must
    // agree.
    if (refused_since_ && may_be_lost())
      pause = std::min(pause, with_.liveness.refused_after / 4);
    // A short pause reports a wrong key soon.
    if (suspicions_ != 0 && identity_.incarnation.empty())
      pause = std::min(pause, with_.liveness.suspected_for / 4);
    retry_at_ = now + pause;
  } else {
    state_ = state::closed;
  }
}

/// The peer, or we, will not have this connection: that will not change soon.
void caller_session::refuse(session_time now, error reason) {
  for (auto at = calls_.begin(); at != calls_.end();)
    at = complete(at, reason);
  back_off_.slow();
  reset(now, reason.message);
  if (kept_ && !reported_lost_) {
    reported_lost_ = true;
    reported_up_ = false;
    notify(peer_event::kind::lost, reason.message);
  }
}

bool caller_session::link_down(session_time now, const error& reason,
                               bool certain) {
  if (state_ != state::opening && state_ != state::ready)
    return false;
  const auto lasting =
    reason.code == ec::permission || reason.code == ec::version_mismatch;
  if (lasting && (certain || suspect(now))) {
    refuse(now, reason);
    return true;
  }
  reset(now, reason.message);
  return false;
}

/// Whether a refusal that may be chance has come so often, and for so long,
/// since the peer was ready that it is none.
bool caller_session::suspect(session_time now) {
  if (suspicions_++ == 0)
    suspected_since_ = now;
  // Whoever has let us in seldom changes its key.
  const auto& limits = with_.liveness;
  const auto long_enough =
    identity_.incarnation.empty() ? limits.suspected_for : greeting_limit();
  return suspicions_ >= suspicions_of_refusal
         && now - suspected_since_ >= long_enough;
}

bool caller_session::may_be_lost() const {
  return kept_ && reported_up_ && state_ != state::ready;
}

bool caller_session::worth_probing() const {
  const auto asks = [](const auto& one) {
    const auto& options = one.second.options;
    return options.fails_if_refused || options.refused < options.unreachable;
  };
  return may_be_lost()
         || (state_ != state::ready && std::ranges::any_of(calls_, asks));
}

void caller_session::probed(session_time now, bool refused) {
  refused_ = refused && state_ == state::waiting;
  if (refused && state_ != state::ready)
    fail_refused();
  if (!refused || !may_be_lost())
    refused_since_.reset();
  else if (!refused_since_)
    refused_since_ = now;
  else if (now - *refused_since_ >= with_.liveness.refused_after)
    report_lost();
}

// -- messages

void caller_session::receive(session_time now, channel over, message incoming) {
  if (state_ != state::opening && state_ != state::ready)
    return; // From a connection that is closed already.
  last_heard_ = now;
  unanswered_beats_ = 0;
  if (auto known = check_version(incoming.head, address_); !known)
    return refuse(now, std::move(known).error());
  switch (incoming.head.kind) {
  case message_kind::reply:
    if (incoming.head.method == method::hello)
      hello_answered(now, over, incoming);
    else
      replied(now, std::move(incoming));
    return;
  case message_kind::beat: // It has been heard; that is all.
    return;
  case message_kind::stranger:
    // Later ones are answers to what was sent before the hello.
    if (state_ == state::ready) {
      state_ = state::opening;
      say_hello(now);
    }
    return;
  default:
    reset(now, "it sent what only callers send");
  }
}

void caller_session::hello_answered(session_time now, channel over,
                                    const message& incoming) {
  if (state_ != state::opening)
    return;
  if (incoming.head.failed) {
    auto reason = fmt::format("{} refuses the connection: {}", address_,
                              incoming.head.failure.message);
    const auto pause = incoming.head.retry_after;
    if (pause.count() == 0)
      return refuse(now, {incoming.head.failure.code, std::move(reason)});
    reset(now, std::move(reason)); // It has no place for us at the moment.
    retry_at_ =
      std::max(retry_at_, now + std::min(pause, with_.liveness.retry_last));
    return;
  }
  auto hello = decode_hello(incoming.data.body);
  if (!hello)
    return reset(now, hello.error().message);
  const auto at = static_cast<std::size_t>(over);
  const auto again = std::exchange(greeted_[at], true);
  met_[at] = hello.value().incarnation;
  if (with_.control_first && over == channel::control && !again)
    greet_data(hello.value());
  if (!greeted_[1 - at])
    return;
  if (met_[0] != met_[1])
    return reset(now, "it was restarted during the handshake");
  const auto before = identity_.incarnation;
  identity_ = {hello.value().name, hello.value().incarnation, address_};
  identity_.cluster = hello.value().cluster;
  identity_.generation = hello.value().generation;
  state_ = state::ready;
  if (kept_ && !before.empty() && before != identity_.incarnation)
    notify(peer_event::kind::replaced);
  else if (kept_ && !reported_up_)
    notify(peer_event::kind::up);
  reported_up_ = kept_;
  reported_lost_ = false;
  ready(now);
}

void caller_session::ready(session_time now) {
  back_off_.reset();
  suspicions_ = 0;
  reason_.clear();
  refused_since_.reset();
  next_beat_ = now + with_.liveness.beat_every;
  idle_since_ = now;
  resume(now);
}

// -- time

void caller_session::tick(session_time now) {
  const auto silent = now - last_heard_;
  const auto limit = with_.liveness.lost_after;
  const auto greeting = greeting_limit();
  if (state_ == state::ready && silent >= limit)
    reset(now, fmt::format("it was silent for {} ms", limit.count()));
  else if (state_ == state::opening && now - opened_ >= greeting)
    reset(now, fmt::format("no handshake within {} ms", greeting.count()));
  report(now);
  report_slow(now);
  fail_due(now);
  if (state_ != state::ready)
    fail_unreachable(now);
  if (state_ == state::waiting && !wanted())
    state_ = state::closed;
  if (state_ == state::waiting && now >= retry_at_)
    open(now);
  if (state_ != state::ready)
    return;
  if (!wanted() && now - idle_since_ >= with_.liveness.idle_close)
    return shut(now);
  if (now >= next_beat_) {
    if (unanswered_beats_++ >= with_.liveness.silent_beats)
      fail_silent();
    next_beat_ = now + with_.liveness.beat_every;
    message beat;
    beat.head.kind = message_kind::beat;
    beat.head.method = method::beat;
    effects_.emplace_back(send{channel::control, std::move(beat)});
  }
}

/// Tells, once, that a kept peer is lost.
void caller_session::report(session_time now) {
  const auto since = std::max(last_heard_, wanted_since_);
  if (!kept_ || reported_lost_ || state_ == state::ready
      || now - since < with_.liveness.lost_after)
    return;
  report_lost();
}

void caller_session::report_lost() {
  reported_lost_ = true;
  reported_up_ = false;
  refused_since_.reset();
  notify(peer_event::kind::lost, reason_);
}

/// Tells, once, that the peer has not answered for long, and once that it does
/// again. Only of requests for data: others take the time of what they ask for.
void caller_session::report_slow(session_time now) {
  const auto waits = [](const auto& one) {
    return one.second.attempt != 0
           && traits_of(one.second.method).server == method_server::data;
  };
  const auto oldest = std::ranges::find_if(calls_, waits);
  const auto since = oldest == calls_.end() ? now : oldest->second.start;
  const auto slow = now - since >= with_.liveness.slow_after;
  if (slow == slow_since_.has_value())
    return;
  const auto seconds = [now](session_time from) {
    return std::chrono::floor<std::chrono::seconds>(now - from).count();
  };
  if (slow)
    effects_.emplace_back(
      note{fmt::format("waits for {}, which has not answered {} for {} s; its "
                       "last sign of life came {} s ago",
                       peer(), to_string(oldest->second.method), seconds(since),
                       seconds(last_heard_))});
  else
    effects_.emplace_back(note{fmt::format("got the answer of {}: it took {} s",
                                           peer(), seconds(*slow_since_))});
  slow_since_ = slow ? std::optional{since} : std::nullopt;
}

std::chrono::milliseconds caller_session::greeting_limit() const {
  return std::min(with_.liveness.greeted_within, with_.liveness.lost_after);
}

session_time caller_session::next_tick() const {
  auto next = session_time::max();
  const auto at = [&next](session_time when) { next = std::min(next, when); };
  const auto limit = with_.liveness.lost_after;
  if (!due_.empty())
    at(due_.begin()->first);
  if (state_ == state::ready) {
    at(next_beat_);
    at(last_heard_ + limit);
    if (!wanted())
      at(idle_since_ + with_.liveness.idle_close);
    return next;
  }
  if (state_ == state::opening)
    at(opened_ + greeting_limit());
  if (state_ == state::waiting)
    at(wanted() ? retry_at_ : session_time::min());
  if (kept_ && !reported_lost_)
    at(std::max(last_heard_, wanted_since_) + limit);
  for (const auto& [id, waiting] : calls_)
    at(std::max(waiting.start, last_heard_) + longest_unreachable(waiting));
  return next;
}

void caller_session::shut(session_time) {
  kept_ = false;
  for (auto at = calls_.begin(); at != calls_.end();)
    at = complete(at, fail(ec::cancelled, "{} to {} was cancelled",
                           to_string(at->second.method), peer()));
  if (state_ == state::ready) {
    message farewell;
    farewell.head.kind = message_kind::farewell;
    effects_.emplace_back(send{channel::control, std::move(farewell)});
  }
  if (state_ == state::ready || state_ == state::opening)
    effects_.emplace_back(close_link{true});
  state_ = state::closed;
}

void caller_session::notify(peer_event::kind change, std::string reason) {
  auto identity = identity_;
  identity.address = address_;
  effects_.emplace_back(
    peer_event{change, std::move(identity), false, std::move(reason)});
}

/// How errors name the peer.
std::string caller_session::peer() const {
  return identity_.name.empty()
           ? address_
           : fmt::format("{} ({})", identity_.name, address_);
}

} // namespace graphmill
