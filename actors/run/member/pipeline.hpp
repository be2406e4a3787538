#pragma once

#include "actors/run/member/member.hpp"

#include <vector>

namespace graphmill {

/// The actors of a pipeline in one process. Value type of handles.
struct pipeline {
  dispatcher_actor dispatcher; ///< None without trainers.
  std::vector<trainer_actor> trainers;
  std::vector<gradient_group_actor> groups; ///< Each once.
  std::vector<caf::actor> pools;            ///< In the order in which they end.
  /// By part; these are among the pools.
  std::vector<feature_service_actor> features;
};

/// Spawns services, stage pools, trainers, group and dispatcher of a run.
pipeline spawn_pipeline(caf::actor_system& system, const member_config& config,
                        const stage_table& stages,
                        const run_reports_actor& conductor);

/// Ends a pipeline from the front: first the dispatcher, so that no batch is
/// begun, then the stages, at last trainers and groups.
void stop_pipeline(pipeline& spawned);

} // namespace graphmill
