#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/compute_thread.hpp"
#include "actors/base/interfaces.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

/// The COMPUTE THREAD of an actor, whose interface takes `job_done`: a job runs
/// on the thread, and what follows from its end runs in the actor again.
///
/// A polite end of the actor waits for the job at hand without holding a thread
/// of the actor system: the actor goes on taking messages until the thread is
/// idle. So jobs may use the actor's state. An exception in a handler ends it
/// in the same way, if its state object hands what `crashed` is told of on to
/// that of this thread. It must be the last member of the state object, and is
/// used in the actor's handlers alone.
template <class Interface>
class actor_thread {
public:
  /// @param failure Set when the job has thrown.
  using then_function =
    std::function<void(const std::optional<error>& failure)>;

  explicit actor_thread(typename Interface::pointer self)
    : self_(self), thread_(gauge_in(self->home_system(),
                                    fmt::format("the thread of {} (actor {})",
                                                self->name(), self->id()))) {}

  /// To be called once. @param on_leave Called when the actor is told to end.
  void install(std::function<void()> on_leave) {
    on_leave_ = std::move(on_leave);
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      if (leaving_)
        return;
      leave(exit.reason);
      leave_when_idle();
    });
  }

  /// A handler has thrown. Without a job at hand, that ends the actor at once.
  /// @returns whether the actor ends later, when the thread is idle.
  bool crashed(const caf::error& reason) {
    if (thens_.empty())
      return false;
    if (!leaving_)
      leave(reason);
    return true;
  }

  /// Runs `job` on the thread, then `then` in the actor.
  void post(std::function<void()> job, then_function then) {
    auto failure = std::make_shared<std::optional<error>>();
    thens_.push_back([then = std::move(then), failure] { then(*failure); });
    const auto done = [me = handle_of<Interface>(self_)] {
      graphmill::post(me, job_done{});
    };
    thread_.post(
      [job = std::move(job), done] {
        job();
        done();
      },
      [failure, done](const error& reason) {
        *failure = reason;
        done();
      });
  }

  /// What the actor does when it takes `job_done`.
  void next() {
    const auto then = std::move(thens_.front());
    thens_.pop_front();
    then();
    leave_when_idle();
  }

  /// Whether the actor has been told to end.
  bool leaving() const { return leaving_.has_value(); }

private:
  void leave(const caf::error& reason) {
    leaving_ = reason;
    on_leave_();
  }

  void leave_when_idle() {
    if (leaving_ && thens_.empty())
      self_->quit(*leaving_);
  }

  typename Interface::pointer self_;
  std::deque<std::function<void()>> thens_; ///< Of jobs that are not done.
  std::optional<caf::error> leaving_;
  std::function<void()> on_leave_;
  compute_thread thread_;
};

} // namespace graphmill
