#include "actors/cluster/coordinator/runs/run_turn.hpp"

#include <utility>

namespace graphmill {

namespace {

/// By the code: whoever cannot reach another one says so by these.
bool is_loss(const error& reason) {
  return reason.code == ec::unavailable || reason.code == ec::timeout;
}

} // namespace

run_turn::task run_turn::deployed(const std::string& daemon,
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

run_turn::task run_turn::conducted(std::optional<error> failure) {
  return now_ == state::conducting ? end(std::move(failure)) : task::none;
}

run_turn::task run_turn::paused(error reason) {
  if (now_ != state::conducting)
    return task::none;
  if (cancelled_)
    return end(fail(ec::cancelled, "stopped by the user"));
  recovers_ = true; // What shares say of each other's end is no failure.
  return end(std::move(reason));
}

bool run_turn::is_recoverable(const error& reason) const {
  return recovers_ && !cancelled_ && is_loss(reason);
}

run_turn::task run_turn::end(std::optional<error> failure) {
  now_ = state::ending;
  failure_ = std::move(failure);
  again_ = failure_ && is_recoverable(*failure_);
  // Whoever has cancelled it does not ask who was there to the end.
  if (cancelled_ && failure_ && is_loss(*failure_))
    failure_ =
      fail(ec::cancelled, "stopped by the user; {}", failure_->message);
  awaited_.clear();
  for (const auto& daemon : daemons_)
    if (const auto it = lost_.find(daemon); it == lost_.end())
      awaited_.insert(daemon);
    else if (!failure_) { // It was lost after the last step.
      failure_ = unverified(daemon, it->second);
      again_ = is_recoverable(*failure_);
    }
  return task::end_shares;
}

run_turn::task run_turn::ordered_to_end() {
  return file_if_ended();
}

run_turn::task run_turn::share_ended(const std::string& daemon,
                                     std::optional<error> failure) {
  if (now_ != state::ending || awaited_.erase(daemon) == 0)
    return task::none;
  if (!failure_ && failure) {
    failure_ = std::move(failure);
    again_ = is_recoverable(*failure_);
    if (again_ && !awaited_.empty())
      return task::hurry_shares;
  }
  return file_if_ended();
}

run_turn::task run_turn::file_if_ended() {
  if (now_ != state::ending || !awaited_.empty())
    return task::none;
  now_ = state::filing;
  return task::file;
}

run_turn::task run_turn::fail_run(error reason) {
  switch (now_) {
  case state::deploying:
    return end(std::move(reason));
  case state::conducting:
    return is_recoverable(reason) ? end(std::move(reason))
                                  : task::tell_conductor;
  case state::ending:
    if (again_ && !is_recoverable(reason))
      give_up(std::move(reason));
    break;
  case state::filing:
    break;
  }
  return task::none;
}

void run_turn::give_up(error reason) {
  again_ = false;
  failure_ = std::move(reason);
}

run_turn::task run_turn::lose(const std::string& daemon, const error& reason) {
  lost_.emplace(daemon, reason);
  // It may have damage that nobody will hear of.
  if (now_ == state::ending)
    return share_ended(daemon, unverified(daemon, reason));
  return fail_run(reason);
}

run_turn::task run_turn::do_without(const std::string& daemon) {
  if (daemons_.erase(daemon) == 0)
    return task::none;
  done_without_.insert(daemon);
  if (awaited_.erase(daemon) == 0 || !awaited_.empty())
    return task::none;
  if (now_ != state::deploying)
    return file_if_ended();
  now_ = state::conducting;
  return task::conduct;
}

run_turn::task run_turn::cancel(bool has_begun) {
  if (now_ == state::filing && !again_)
    return task::none;
  cancelled_ = true;
  if (again_) {
    give_up(fail(ec::cancelled, "cancelled before its next attempt"));
    return task::none; // It ends already.
  }
  if (now_ == state::deploying) // Daemons that still prepare end after that.
    return end(fail(ec::cancelled, "cancelled before {}",
                    has_begun ? "its next attempt" : "it began"));
  if (now_ == state::conducting)
    return task::tell_conductor;
  if (failure_)
    return task::none;
  failure_ =
    fail(ec::cancelled, "stopped by the user before all data were verified");
  return task::hurry_shares;
}

error unverified(const std::string& daemon, const error& reason) {
  return fail(reason.code,
              "daemon \"{}\" did not say whether its data are sound: {}",
              daemon, reason.message);
}

} // namespace graphmill
