#pragma once

#include "actors/run/run_observer.hpp"
#include "pipelines/health/health_sampler.hpp"

#include <chrono>
#include <deque>
#include <memory>

namespace graphmill {

/// How the CONDUCTOR of a run is. Its observer tells a gauge, without locks;
/// the COORDINATOR reads it as daemons read those of their actors.
///
/// It waits for members, but for the time that it takes to write down what has
/// come of a phase or a checkpoint. Its items are the ranks' parts of steps.
class conductor_health {
public:
  using clock = std::chrono::steady_clock;

  explicit conductor_health(clock::time_point now = clock::now());

  /// Has the observer of a run tell it, too.
  static void observe(const std::shared_ptr<conductor_health>& health,
                      run_observer& by);

  /// What it did since the last few times that this was asked. For one caller,
  /// about once a second.
  actor_health read(clock::time_point now);

private:
  actor_gauge gauge_{{actor_kind::conductor}};
  const clock::time_point begun_;
  /// The oldest first, `health_sampler::span` at the most.
  std::deque<gauge_reading> readings_;
};

} // namespace graphmill
