#pragma once

#include "actors/base/caf_compat.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <chrono>
#include <vector>

namespace graphmill::test {

/// An actor system whose actors run only when the test says so, on a simulated
/// clock: timeouts and delays are instant and exact.
class simulation {
public:
  simulation() : system_(configure(config_)) {
    // A clock that starts at zero would make the first timeouts special.
    scheduler().advance_time(std::chrono::hours{1});
  }

  ~simulation() {
    for (auto& actor : ends_)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
    scheduler().run();
    // Actors with timers of their own would keep the system waiting.
    system_.await_actors_before_shutdown(false);
  }

  caf::actor_system& system() { return system_; }

  /// Ends `actor` when the simulation ends.
  template <class Handle>
  Handle own(Handle actor) {
    ends_.push_back(caf::actor_cast<caf::actor>(actor));
    return actor;
  }

  /// Delivers messages until there are none, without moving the clock.
  void run() { scheduler().run(); }

  /// Moves the clock in small steps and delivers all that becomes due.
  void advance(std::chrono::milliseconds time,
               std::chrono::milliseconds step = std::chrono::milliseconds{1}) {
    for (auto done = std::chrono::milliseconds{0}; done < time; done += step) {
      scheduler().advance_time(step);
      scheduler().run();
    }
  }

  /// Timers that are set: of requests that wait, and of later messages.
  std::size_t timers() { return scheduler().clock().schedule().size(); }

private:
  caf::scheduler::test_coordinator& scheduler() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  }

  static caf::actor_system_config& configure(caf::actor_system_config& config) {
    config.set("scheduler.policy", caf::atom("testing"));
    return config;
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
  std::vector<caf::actor> ends_;
};

} // namespace graphmill::test
