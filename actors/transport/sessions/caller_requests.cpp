#include "actors/transport/sessions/caller_session.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Keeps sums of times far from overflow.
constexpr std::chrono::milliseconds longest_deadline = std::chrono::hours{1000};

/// Bounds of the pause before a request that the peer had no room for is sent
/// again: what the peer says doubles each time, up to the longest.
constexpr std::chrono::milliseconds longest_pause{2000};
constexpr unsigned most_doublings = 5;

/// How long an attempt waits for its answer before the next one.
std::chrono::milliseconds pause_after(unsigned attempt,
                                      const call_options& how) {
  auto out = how.repeat;
  for (unsigned i = 1; i < attempt && out < how.longest_repeat; ++i)
    out = std::min(2 * out, how.longest_repeat);
  return out;
}

} // namespace

void caller_session::request(session_time now, std::uint64_t id,
                             method method_id, payload data,
                             call_options options, callback on_reply) {
  const auto refuse_now = [this, &on_reply](error reason) {
    effects_.emplace_back(finish{std::move(on_reply), std::move(reason)});
  };
  if (auto fits = check_size(data); !fits)
    return refuse_now(std::move(fits).error());
  const auto bytes = data.byte_size();
  if (bytes_ != 0 && bytes_ + bytes > with_.queue_bytes)
    return refuse_now(fail(ec::unavailable,
                           "{} bytes wait for {} already; ask for less at once",
                           bytes_, peer()));
  bytes_ += bytes;
  options.attempts = std::max(options.attempts, 1u);
  options.deadline = std::min(options.deadline, longest_deadline);
  options.unreachable = std::min(options.unreachable, longest_deadline);
  if (options.repeat.count() == 0)
    options.repeat = options.deadline / options.attempts;
  const auto deadline = now + options.deadline;
  const auto at =
    calls_
      .try_emplace(id, call{method_id, std::move(data), options,
                            std::move(on_reply), now, deadline, deadline})
      .first;
  due_.emplace(deadline, id);
  if (state_ == state::closed)
    open(now);
  else if (state_ == state::ready)
    dispatch(now, at);
  else if (refused_)
    fail_refused();
}

/// Sends a request, for the first time or again.
void caller_session::dispatch(session_time now, calls::iterator at) {
  auto& pending = at->second;
  counts_.retries += pending.attempt != 0;
  ++pending.attempt;
  pending.sent_to = identity_.incarnation;
  message out;
  out.head.kind = message_kind::request;
  out.head.id = at->first;
  out.head.method = pending.method;
  out.head.attempt =
    static_cast<std::uint16_t>(std::min(pending.attempt, 0xffffu));
  out.head.time_left = std::chrono::duration_cast<std::chrono::milliseconds>(
    pending.deadline - now);
  out.data = pending.data;
  effects_.emplace_back(
    send{traits_of(pending.method).channel, std::move(out)});
  auto due = pending.deadline;
  if (pending.attempt < pending.options.attempts)
    due = std::min(due, now + pause_after(pending.attempt, pending.options));
  set_due(at, due);
}

/// After a handshake: sends what waits, repeats what was on its way, and gives
/// up what another incarnation had.
void caller_session::resume(session_time now) {
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto& pending = at->second;
    if (pending.attempt != 0 && pending.sent_to != identity_.incarnation) {
      at = complete(at, fail(ec::unavailable,
                             "{} was restarted while {} was under way there",
                             peer(), to_string(pending.method)));
    } else if (pending.attempt >= pending.options.attempts) {
      at =
        complete(at, fail(ec::unavailable,
                          "the connection to {} broke while {} was under "
                          "way there ({})",
                          peer(), to_string(pending.method),
                          graphmill::pluralized(pending.attempt, "attempt")));
    } else {
      dispatch(now, at++);
    }
  }
}

void caller_session::replied(session_time now, message incoming) {
  const auto at = calls_.find(incoming.head.id);
  if (at == calls_.end() || at->second.attempt == 0) {
    ++counts_.late_replies;
    return;
  }
  if (at->second.method != incoming.head.method)
    return reset(now, "it answered another request");
  if (put_off(now, at, incoming.head))
    return;
  if (incoming.head.failed)
    complete(at, std::move(incoming.head.failure));
  else
    complete(at, std::move(incoming.data));
  idle_since_ = now;
}

/// Keeps a request that the peer had no room for, to be sent again later: that
/// was no attempt.
/// @returns false if that would be too late, or the answer says no such thing.
bool caller_session::put_off(session_time now, calls::iterator at,
                             const envelope& head) {
  auto& pending = at->second;
  if (!head.failed || head.retry_after.count() == 0)
    return false;
  const auto bound =
    std::min(head.retry_after
               * (1 << std::min(pending.put_off, most_doublings)),
             longest_pause)
      .count();
  // Drawn, so that those who were told at once do not return at once.
  const auto drawn = mix64(with_.seed + mix64(at->first) + pending.put_off)
                     % static_cast<std::uint64_t>(bound / 2 + 1);
  const auto due =
    now + std::chrono::milliseconds{bound - static_cast<std::int64_t>(drawn)};
  if (due >= pending.deadline)
    return false;
  ++pending.put_off;
  ++counts_.put_off;
  --pending.attempt;
  set_due(at, due);
  return true;
}

void caller_session::set_due(calls::iterator at, session_time due) {
  due_.erase({at->second.due, at->first});
  at->second.due = due;
  due_.emplace(due, at->first);
}

caller_session::calls::iterator
caller_session::complete(calls::iterator at, result<payload> answer) {
  due_.erase({at->second.due, at->first});
  bytes_ -= at->second.data.byte_size();
  effects_.emplace_back(
    finish{std::move(at->second.on_reply), std::move(answer)});
  return calls_.erase(at);
}

/// Fails what is past its deadline, and repeats what is past its attempt's.
void caller_session::fail_due(session_time now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = calls_.find(due_.begin()->second);
    const auto& pending = at->second;
    if (now < pending.deadline) {
      if (state_ == state::ready)
        dispatch(now, at);
      else
        set_due(at, pending.deadline); // Repeated after the handshake.
      continue;
    }
    complete(at, fail(ec::timeout,
                      "no answer from {} to {} within {} ms "
                      "({}){}{}",
                      peer(), to_string(pending.method),
                      pending.options.deadline.count(),
                      graphmill::pluralized(pending.attempt, "attempt"),
                      reason_.empty() ? "" : ": ", reason_));
    idle_since_ = now;
  }
}

/// The peer's process has ended, as far as its machine can tell. A request that
/// can be put to somebody else does not wait for more.
void caller_session::fail_refused() {
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto& pending = at->second;
    if (!pending.options.fails_if_refused) {
      ++at;
      continue;
    }
    at = complete(at, fail(ec::unavailable,
                           "cannot reach {} for {}: nobody listens at its port",
                           peer(), to_string(pending.method)));
  }
}

/// The peer is stopped, or its machine out of reach. It is no loss yet, but
/// nobody waits for it who need not.
void caller_session::fail_silent() {
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto& pending = at->second;
    if (!pending.options.fails_if_refused) {
      ++at;
      continue;
    }
    at = complete(
      at, fail(ec::unavailable,
               "{} has not answered {} beats while {} was under way there",
               peer(), with_.liveness.silent_beats, to_string(pending.method)));
  }
}

std::chrono::milliseconds
caller_session::longest_unreachable(const call& of) const {
  return refused_ ? std::min(of.options.refused, of.options.unreachable)
                  : of.options.unreachable;
}

void caller_session::fail_unreachable(session_time now) {
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto& pending = at->second;
    const auto limit = longest_unreachable(pending);
    if (now - std::max(pending.start, last_heard_) < limit) {
      ++at;
      continue;
    }
    at = complete(at, fail(ec::unavailable,
                           "cannot reach {} for {}, tried for {} ms{}{}",
                           peer(), to_string(pending.method), limit.count(),
                           reason_.empty() ? "" : ": ", reason_));
  }
}

// -- for others to see

/// Attempts to connect again are part of being broken.
link_state caller_session::link() const {
  if (state_ == state::ready)
    return unanswered_beats_ >= with_.liveness.silent_beats ? link_state::silent
                                                            : link_state::ready;
  if (reported_lost_)
    return link_state::lost;
  if (state_ == state::closed)
    return link_state::closed;
  return reason_.empty() ? link_state::opening : link_state::broken;
}

} // namespace graphmill
