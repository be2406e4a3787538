#include "actors/cluster/daemon/registration.hpp"

#include <utility>

namespace graphmill {

namespace {

/// A refusal is final, a question that got lost is not.
constexpr std::chrono::milliseconds ask_again_after{500};

bool is_final(ec code) {
  // A coordinator that is ending drops what it was asked: an internal error.
  return code != ec::unavailable && code != ec::timeout && code != ec::internal;
}

} // namespace

bool registration::due(time_point now) {
  if (asking_ || !ask_at_ || now < *ask_at_)
    return false;
  ask_at_.reset();
  asking_ = true;
  outdated_ = false;
  return true;
}

std::optional<error> registration::answered(const result<void>& answer,
                                            time_point now) {
  asking_ = false;
  if (answer) {
    ever_taken_ = true;
    member_ = true;
    ask_at_.reset();
    if (outdated_)
      ask_at_ = now;
    return std::nullopt;
  }
  const auto& why = answer.error();
  if (is_final(why.code) || (!ever_taken_ && now > give_up_at_))
    return why;
  ask_at_ = now + ask_again_after;
  return std::nullopt;
}

void registration::changed(time_point now) {
  outdated_ = true; // For a question that is under way.
  if (member_ && !asking_)
    ask_at_ = now;
}

void registration::heard(bool started_anew, time_point now) {
  if (ever_taken_ && (started_anew || !member_))
    ask_at_ = now;
}

bool registration::lost() {
  return std::exchange(member_, false);
}

} // namespace graphmill
