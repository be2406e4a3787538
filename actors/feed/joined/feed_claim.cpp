#include "actors/feed/joined/feed_claim.hpp"

#include <utility>

namespace graphmill {

namespace {

constexpr std::chrono::milliseconds again{500};
constexpr std::chrono::milliseconds soon{100};
constexpr std::chrono::milliseconds now_and_then{2000};
/// A run that stands so long has begun well. One that crashes with its first
/// batches does not get there.
constexpr std::chrono::milliseconds steady{6000};

/// Whether another attempt may go well: by the code.
bool is_passing(const error& reason) {
  return reason.code == ec::unavailable || reason.code == ec::timeout
         || reason.code == ec::superseded;
}

} // namespace

feed_claim::task feed_claim::due(time_point now) {
  if (over_ || asking_ || now < next_)
    return task::none;
  asking_ = true;
  return run_.empty() ? task::ask : task::look;
}

void feed_claim::share_ended(const std::string& run, time_point now) {
  if (run != run_)
    return;
  begun_ = false;
  waits_ = "run " + run_ + " makes no more batches here";
  next_ = now;
}

void feed_claim::begun(const std::string& run) {
  if (run != run_ && !run_.empty())
    return; // One that was given up.
  begun_ = true;
  waits_.clear();
}

feed_claim::task feed_claim::asked(const result<std::string>& run,
                                   time_point now) {
  asking_ = false;
  if (over_)
    return task::none;
  if (!run)
    return lose(run.error(), now);
  run_ = run.value();
  begun_ = false;
  stands_since_.reset();
  waits_ = "run " + run_ + " is being prepared";
  next_ = now + again;
  return task::none;
}

feed_claim::task feed_claim::told(const result<feed_state_reply>& state,
                                  time_point now) {
  asking_ = false;
  if (over_)
    return task::none;
  next_ = now + (begun_ ? now_and_then : again);
  if (!state) {
    // The daemon keeps its share for a while when the coordinator is away.
    if (begun_ && is_passing(state.error())) {
      waits_ = state.error().message;
      return task::none;
    }
    return state.error().code == ec::not_found
             ? lose(fail(ec::unavailable, "{}", state.error().message), now)
             : lose(state.error(), now);
  }
  const auto& said = state.value();
  switch (said.state) {
  case run_state::queued:
    waits_ = said.message.empty()
               ? "run " + run_ + " is queued"
               : "run " + run_ + " is queued: " + said.message;
    return task::none;
  case run_state::running:
    if (!begun_) {
      next_ = now + soon; // It begins, or ends.
      return task::none;
    }
    waits_.clear(); // The coordinator may have been away.
    if (!stands_since_)
      stands_since_ = now;
    else if (now - *stands_since_ >= steady)
      lost_ = false;
    return task::none;
  case run_state::cancelled:
    if (is_passing(said.reason())) // Not by a user: this process was away.
      return lose(said.reason(), now);
    return give_up(fail(ec::cancelled, "run {} was cancelled", run_));
  case run_state::finished:
  case run_state::failed:
    break;
  }
  auto reason = said.reason();
  reason.message =
    "run " + run_ + " has ended: "
    + (reason.message.empty() ? "the coordinator ended it" : reason.message);
  if (said.code == 0) // As of one that another coordinator has left.
    reason.code = ec::unavailable;
  return lose(reason, now);
}

feed_claim::task feed_claim::lose(const error& reason, time_point now) {
  run_.clear();
  begun_ = false;
  if (!is_passing(reason))
    return give_up(reason);
  if (!std::exchange(lost_, true))
    lost_at_ = now;
  if (now - lost_at_ >= patience_)
    return give_up(fail(ec::unavailable,
                        "{}; no run has fed it for {} s since "
                        "(`recovery.wait`)",
                        reason.message, patience_.count()));
  waits_ = reason.message;
  next_ = now + again;
  return task::none;
}

feed_claim::task feed_claim::give_up(error reason) {
  if (std::exchange(over_, true))
    return task::none;
  failure_ = std::move(reason);
  return task::end;
}

} // namespace graphmill
