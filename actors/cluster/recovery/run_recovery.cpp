#include "actors/cluster/recovery/run_recovery.hpp"

#include "actors/base/timeouts.hpp"
#include "messages/base/pluralized.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <utility>

namespace graphmill {

std::optional<error>
run_recovery::broken(const error& reason,
                     const std::optional<trained_until>& reached,
                     clock::time_point now) {
  if (!note_progress(reached))
    ++fruitless_;
  if (fruitless_ >= how_.attempts)
    return fail(
      reason.code,
      "{}; {} in a row {} trained nothing new, and `recovery.attempts` "
      "allows no more",
      reason.message, pluralized(fruitless_, "attempt"),
      fruitless_ == 1 ? "has" : "have");
  wait(reason, std::chrono::seconds{how_.wait}, now);
  return std::nullopt;
}

bool run_recovery::note_progress(const std::optional<trained_until>& reached) {
  if (!(reached > furthest_)) // Nothing is less than any place.
    return false;
  furthest_ = reached;
  fruitless_ = 0;
  return true;
}

void run_recovery::wait(error reason, std::chrono::seconds time,
                        clock::time_point now) {
  lost_ = std::move(reason);
  time_ = time;
  until_ = now + time;
}

std::chrono::milliseconds run_recovery::pause() const {
  using std::chrono::milliseconds;
  if (fruitless_ == 0)
    return milliseconds{0};
  auto out = timeouts::after_failure;
  for (auto n = fruitless_; n > 1 && out < timeouts::longest_pause; --n)
    out *= 2;
  return std::min({out, timeouts::longest_pause,
                   milliseconds{std::chrono::seconds{how_.wait}} / 2});
}

void run_recovery::left(error reason, clock::time_point now) {
  wait(std::move(reason), std::chrono::seconds{how_.wait}, now);
}

/// Long enough to be placed, on daemons that are there.
void run_recovery::paused(error reason, const trained_until& reached,
                          clock::time_point now) {
  note_progress(reached);
  wait(std::move(reason),
       std::max(
         std::chrono::seconds{how_.wait},
         std::chrono::ceil<std::chrono::seconds>(timeouts::trainer_returns)),
       now);
}

std::string
run_recovery::says(const error& missing, clock::time_point now,
                   std::chrono::system_clock::time_point wall) const {
  const auto left = until_.value_or(now) - now;
  const auto end =
    wall
    + std::chrono::duration_cast<std::chrono::system_clock::duration>(left);
  return fmt::format(
    "has ended an attempt: {}; it waits until {:%H:%M:%S} UTC to go on: {}",
    lost_.message, fmt::gmtime(std::chrono::system_clock::to_time_t(end)),
    missing.message);
}

std::string run_recovery::says_held_up(const error& missing) const {
  return fmt::format(
    "has ended an attempt: {}; it goes on once there is room for it: {}",
    lost_.message, missing.message);
}

error run_recovery::gave_up(const error& missing) const {
  return fail(lost_.code, "{}; it could not go on within {}{}: {}",
              lost_.message, pluralized(time_.count(), "second"),
              time_.count() == how_.wait ? " (`recovery.wait`)" : "",
              missing.message);
}

} // namespace graphmill
