#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/run/run_observer.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/flow/course.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace graphmill {

/// What the CONDUCTOR of a run needs.
struct conductor_config {
  definition def;
  rank_id ranks = 1;                   ///< Trainers in all.
  std::array<std::int64_t, 3> seeds{}; ///< By phase.
  course phases;
  /// Makes the members, which report to the given actor. Called once.
  std::function<std::vector<member_actor>(caf::actor_system&,
                                          run_reports_actor)>
    members;
  run_observer observer;
  /// The state of another process, from which this run continues.
  std::optional<training_state> from = {};
  /// Where this attempt ends in order, after its start.
  std::optional<run_point> pause_at = {};
  /// The member whose trainer sends checkpoints: all have the same state.
  std::size_t keeper = 0;
  measures wanted = {}; ///< What evaluations report.
};

/// Spawns the CONDUCTOR, and by `members` all other actors of the run. It leads
/// through the course phase by phase, ends the run when an actor ends unasked,
/// and checks that the replicas are equal, after each epoch and at the end.
/// After epochs, and within them as the definition says, a trainer copies its
/// state for a checkpoint. Training waits for nothing else.
conductor_actor spawn_conductor(caf::actor_system& system,
                                conductor_config config);

} // namespace graphmill
