#include "actors/cluster/coordinator/runs/attempt.hpp"

#include <utility>

namespace graphmill {

namespace {

/// By the code: whoever cannot reach another one says so by these.
bool is_loss(const error& reason) {
  return reason.code == ec::unavailable || reason.code == ec::timeout;
}

} // namespace

void attempt::place(std::set<std::string> daemons, bool recovers,
                    bool is_first) {
  if (now_ != state::queued && now_ != state::waiting)
    return;
  *this = attempt{state::recording};
  recovers_ = recovers;
  is_first_ = is_first;
  seat(std::move(daemons));
}

void attempt::seat(std::set<std::string> daemons) {
  daemons_ = std::move(daemons);
  awaited_ = daemons_;
}

attempt::task attempt::recorded() {
  if (now_ != state::recording) // It was cancelled, or has lost a daemon.
    return task::none;
  now_ = is_first_ ? state::deploying : state::rewinding;
  return is_first_ ? task::deploy : task::rewind;
}

attempt::task attempt::rewound() {
  if (now_ != state::rewinding)
    return task::none;
  now_ = state::deploying;
  return task::deploy;
}

attempt::task attempt::deployed(const std::string& daemon,
                                std::optional<error> why_not) {
  if (now_ != state::deploying || awaited_.erase(daemon) == 0)
    return task::none;
  if (why_not) // The others need not be waited for.
    return end(std::move(why_not));
  if (!awaited_.empty())
    return task::none;
  now_ = state::conducting;
  return task::conduct;
}

attempt::task attempt::conducted(std::optional<error> failure) {
  return now_ == state::conducting ? end(std::move(failure)) : task::none;
}

attempt::task attempt::paused(error reason) {
  if (now_ != state::conducting)
    return task::none;
  has_paused_ = true;
  if (is_cancelled_)
    return end(fail(ec::cancelled, "stopped by the user"));
  recovers_ = true; // What shares say of each other's end is no failure.
  return end(std::move(reason));
}

attempt::task attempt::conductor_ended(const error& reason) {
  is_led_ = false;
  return now_ == state::closing ? close() : conducted(reason);
}

bool attempt::is_recoverable(const error& reason) const {
  return recovers_ && !is_cancelled_ && is_loss(reason);
}

attempt::task attempt::end(std::optional<error> failure) {
  now_ = state::ending;
  failure_ = std::move(failure);
  is_again_ = failure_ && is_recoverable(*failure_);
  // Whoever has cancelled it does not ask who was there to the end.
  if (is_cancelled_ && failure_ && is_loss(*failure_))
    failure_ =
      fail(ec::cancelled, "stopped by the user; {}", failure_->message);
  awaited_.clear();
  for (const auto& daemon : daemons_)
    if (const auto it = lost_.find(daemon); it == lost_.end())
      awaited_.insert(daemon);
    else if (!failure_) { // It was lost after the last step.
      failure_ = unverified(daemon, it->second);
      is_again_ = is_recoverable(*failure_);
    }
  return task::end_shares;
}

attempt::task attempt::ordered_to_end() {
  return close_if_ended();
}

attempt::task attempt::share_ended(const std::string& daemon,
                                   std::optional<error> failure) {
  if (now_ != state::ending || awaited_.erase(daemon) == 0)
    return task::none;
  if (!failure_ && failure) {
    failure_ = std::move(failure);
    is_again_ = is_recoverable(*failure_);
    if (is_again_ && !awaited_.empty())
      return task::hurry_shares;
  }
  return close_if_ended();
}

attempt::task attempt::close_if_ended() {
  if (now_ != state::ending || !awaited_.empty())
    return task::none;
  if (!is_led_)
    return close();
  now_ = state::closing;
  return task::await_conductor;
}

attempt::task attempt::close() {
  if (!is_again_)
    return file();
  now_ = state::collecting;
  return task::collect;
}

attempt::task attempt::collected() {
  if (now_ != state::collecting)
    return task::none;
  if (!is_again_) // It was cancelled meanwhile.
    return file();
  now_ = state::waiting;
  return task::wait;
}

attempt::task attempt::give_up(error reason) {
  if (now_ != state::waiting && now_ != state::collecting)
    return task::none;
  fail_for_good(std::move(reason));
  return file();
}

attempt::task attempt::file() {
  now_ = state::filing;
  return task::file;
}

void attempt::fail_for_good(error reason) {
  is_again_ = false;
  failure_ = std::move(reason);
}

attempt::task attempt::fail_run(error reason) {
  switch (now_) {
  case state::recording:
  case state::rewinding:
  case state::deploying:
    return end(std::move(reason));
  case state::conducting:
    return is_recoverable(reason) ? end(std::move(reason))
                                  : task::tell_conductor;
  case state::ending:
    if (is_again_ && !is_recoverable(reason))
      fail_for_good(std::move(reason));
    break;
  default:
    break;
  }
  return task::none;
}

attempt::task attempt::lose(const std::string& daemon, const error& reason) {
  lost_.emplace(daemon, reason);
  // It may have damage that nobody will hear of.
  if (now_ == state::ending)
    return share_ended(daemon, unverified(daemon, reason));
  return fail_run(reason);
}

attempt::task attempt::do_without(const std::string& daemon) {
  if (now_ == state::recording || now_ == state::rewinding
      || daemons_.erase(daemon) == 0)
    return task::none;
  done_without_.insert(daemon);
  if (awaited_.erase(daemon) == 0 || !awaited_.empty())
    return task::none;
  if (now_ != state::deploying)
    return close_if_ended();
  now_ = state::conducting;
  return task::conduct;
}

attempt::task attempt::cancel() {
  switch (now_) {
  case state::queued:
    now_ = state::over;
    return task::drop;
  case state::waiting:
    is_cancelled_ = true;
    return give_up(fail(ec::cancelled, "cancelled before its next attempt"));
  case state::recording:
  case state::rewinding:
  case state::deploying: // Daemons that still prepare end after that.
    is_cancelled_ = true;
    return end(fail(ec::cancelled, "cancelled before {}",
                    is_first_ ? "it began" : "its next attempt"));
  case state::conducting:
    is_cancelled_ = true;
    return task::tell_conductor;
  case state::ending:
    is_cancelled_ = true;
    if (!failure_) {
      failure_ = fail(ec::cancelled,
                      "stopped by the user before all data were verified");
      return task::hurry_shares;
    }
    break;
  default:
    break;
  }
  if (is_again_) { // It ends already.
    is_cancelled_ = true;
    fail_for_good(fail(ec::cancelled, "cancelled before its next attempt"));
  }
  return task::none;
}

error unverified(const std::string& daemon, const error& reason) {
  return fail(reason.code,
              "daemon \"{}\" did not say whether its data are sound: {}",
              daemon, reason.message);
}

} // namespace graphmill
