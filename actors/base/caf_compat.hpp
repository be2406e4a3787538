#pragma once

// The only file with names that differ between versions of CAF. It is written
// for 0.17, which Debian 12 has. Another version changes only this file.

#include "actors/base/work_watch.hpp"
#include "messages/base/caught.hpp"
#include "messages/base/error.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

static_assert(CAF_VERSION < 1800, "Graphmill is built with CAF 0.17");

CAF_ERROR_CODE_ENUM(graphmill::ec, "graphmill")

namespace graphmill {

// -- interfaces

/// A request `In` that is answered by `Out`.
template <class In, class Out>
using answers = typename caf::replies_to<In>::template with<Out>;

/// A message `In` without an answer.
template <class In>
using takes = caf::reacts_to<In>;

// -- who is watched

/// Of an actor system whose actors are watched.
class watched_system_config : public caf::actor_system_config {
public:
  const std::shared_ptr<work_watch> watch = std::make_shared<work_watch>();
};

/// A gauge of the system's WORK WATCH; null if it has none.
std::shared_ptr<work_gauge> gauge_in(const caf::actor_system& system,
                                     std::string who);

/// The long work that the system's WORK WATCH reports; nothing if it has none.
std::vector<std::string> long_work_in(const caf::actor_system& system);

/// Receives the exception of a handler as an error. Returns whether its actor
/// goes on for now, to end by itself; otherwise the exception ends it at once.
using crash_handler = std::function<bool(const caf::error& reason)>;

/// Makes the handlers of an actor report their work, and passes their
/// exceptions to `on_crash`.
/// @param on_crash May be empty.
void watch_handlers(caf::behavior& handlers, const caf::local_actor& self,
                    crash_handler on_crash);

/// Runs the reaction of an actor to something other than its messages (an
/// answer, a time-out, the end of another actor) like a message handler: it is
/// watched, and `on_crash` gets its exceptions. One at a time, and outside of
/// message handlers.
/// @param what As in `work_gauge`.
void run_handler(caf::scheduled_actor& self, const char* what,
                 const std::function<void()>& handler);

// -- state classes

/// The error with which an actor ends after the exception `thrown`. It throws
/// nothing, because that would end the process.
caf::error crash_of(const char* name, std::exception_ptr thrown) noexcept;

/// Spawns an actor whose logic is in class `S`: a constructor that takes the
/// actor's self pointer (`S::interface::pointer`) and `args`, a member
/// `make_behavior`, and a static `name`. An exception in a handler ends the
/// actor with `ec::crashed`: at once, unless a member `crashed` (a
/// `crash_handler`) returns that it has begun to end.
template <class S>
struct state_box {
  std::unique_ptr<S> impl;
  static inline const char* name = S::name;
};

template <class S, class... Ts>
auto state_factory() {
  using interface = typename S::interface;
  return [](typename interface::template stateful_pointer<state_box<S>> self,
            Ts... args) -> typename interface::behavior_type {
    self->set_exception_handler([](std::exception_ptr thrown) -> caf::error {
      return crash_of(S::name, std::move(thrown));
    });
    self->state.impl = std::make_unique<S>(self, std::move(args)...);
    auto handlers = self->state.impl->make_behavior();
    crash_handler on_crash;
    if constexpr (requires(S & state, const caf::error& e) {
                    state.crashed(e);
                  })
      on_crash = [state = self->state.impl.get()](const caf::error& reason) {
        return state->crashed(reason);
      };
    watch_handlers(handlers.unbox(), *self, std::move(on_crash));
    return handlers;
  };
}

template <class S, class Spawner, class... Ts>
typename S::interface spawn_state(Spawner& spawner, Ts... args) {
  return spawner.spawn(state_factory<S, Ts...>(), std::move(args)...);
}

// -- sending

/// Sends without an answer; from any thread.
template <class Handle, class Message>
void post(const Handle& to, Message message) {
  caf::anon_send(to, std::move(message));
}

/// Like `post`, ahead of all queued messages of normal priority.
template <class Handle, class Message>
void post_urgent(const Handle& to, Message message) {
  caf::anon_send<caf::message_priority::high>(to, std::move(message));
}

/// Like `post`, after a while (simulated time under the testing scheduler).
template <class Handle, class Message>
void post_later(const Handle& to, std::chrono::microseconds delay,
                Message message) {
  caf::delayed_anon_send(to, delay, std::move(message));
}

/// Requests an answer within `timeout`; chain `.then(on_value, on_error)`.
template <class Self, class Handle, class Message>
auto ask(Self* self, const Handle& to, std::chrono::milliseconds timeout,
         Message message) {
  return self->request(to, timeout, std::move(message));
}

/// The handle of an actor to itself.
template <class Interface, class Self>
Interface handle_of(Self* self) {
  return caf::actor_cast<Interface>(self);
}

/// Ends an actor politely: it may finish its handler. Also for destructors. An
/// unreachable actor ends when its last handle is gone.
template <class Handle>
void stop_actor(const Handle& actor) noexcept {
  if (actor)
    quietly([&actor] {
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    });
}

// -- supervision

/// Calls back when watched actors end. One per state object.
class down_watch {
public:
  /// @param reason Empty after a normal end.
  using callback = std::function<void(const caf::error& reason)>;

  template <class Self>
  void install(Self* self) {
    self->set_down_handler([this, self](const caf::down_msg& down) {
      auto it = callbacks_.find(down.source);
      if (it == callbacks_.end())
        return;
      const auto call = std::move(it->second);
      callbacks_.erase(it);
      const auto tell = [&call, &down] { call(down.reason); };
      run_handler(*self, "the end of another actor", std::cref(tell));
    });
  }

  template <class Self, class Handle>
  void watch(Self* self, const Handle& actor, callback call) {
    callbacks_.emplace(actor.address(), std::move(call));
    self->monitor(actor);
  }

private:
  std::map<caf::actor_addr, callback> callbacks_;
};

// -- errors

inline caf::error to_caf(const error& reason) {
  return caf::make_error(reason.code, reason.message);
}

/// Whether the error is an actor's answer, and the actor is still there.
bool is_answer(const caf::error& reason);

/// Turns CAF's errors (timeouts, ended receivers) into ours, naming `asked`.
error from_caf(const caf::error& reason, std::string_view asked);

// -- systems

/// Configures an actor system: number of scheduler threads, and the policy that
/// blocks when idle instead of polling.
void set_scheduler(caf::actor_system_config& config, std::size_t threads);

} // namespace graphmill

/// Lets a type travel in messages within the process (never serialised).
#define GRAPHMILL_LOCAL_MESSAGE(type) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(type)
