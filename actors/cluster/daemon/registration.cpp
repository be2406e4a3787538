#include "actors/cluster/daemon/registration.hpp"

#include "actors/base/timeouts.hpp"

#include <utility>

namespace graphmill {

namespace {

/// A refusal is final, a question that got lost is not.
bool is_final(ec code) {
  // A coordinator that is ending drops what it was asked: an internal error.
  return code != ec::unavailable && code != ec::timeout && code != ec::internal;
}

} // namespace

bool registration::due(time_point now) {
  give_up_at_ += missed_.look(now);
  if (asking_ || !ask_at_ || now < *ask_at_)
    return false;
  ask_at_.reset();
  asking_ = true;
  outdated_ = false;
  return true;
}

std::optional<error> registration::answered(const result<void>& answer,
                                            time_point now) {
  if (!std::exchange(asking_, false))
    return std::nullopt;
  ask_at_.reset();
  if (answer) {
    now_ = state::registered;
    if (outdated_)
      ask_at_ = now;
    return std::nullopt;
  }
  const auto& reason = answer.error();
  if (is_final(reason.code) || (now_ == state::applying && now > give_up_at_)) {
    now_ = state::refused;
    return reason;
  }
  ask_at_ = now + timeouts::ask_again;
  return std::nullopt;
}

void registration::changed(time_point now) {
  outdated_ = true; // For a question that is under way.
  if (now_ == state::registered && !asking_)
    ask_at_ = now;
}

void registration::heard(bool started_anew, time_point now) {
  // One that applies asks anyway.
  if (now_ == state::cut_off || (now_ == state::registered && started_anew))
    ask_at_ = now;
}

bool registration::lost() {
  if (now_ != state::registered)
    return false;
  now_ = state::cut_off;
  return true;
}

} // namespace graphmill
