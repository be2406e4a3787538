#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/base/interfaces.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/disk/row_reader.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <memory>

namespace graphmill {

/// What a FEATURE SERVICE needs.
struct feature_service_config {
  std::shared_ptr<const shard> part;
  std::shared_ptr<stage_counters> counters;
  bool half = false; ///< Round features to float16.
  /// For a part on disk, shared by its workers: the reader of feature rows,
  /// null if it has no features, and the thread that waits for the pages of all
  /// other values. A null thread means that the part is in memory.
  std::shared_ptr<row_reader> rows;
  std::shared_ptr<compute_thread> thread;
};

/// Spawns one worker of the FEATURE SERVICE of a part: copies features, labels,
/// degrees and original ids of its nodes to where a job says. If the part is on
/// disk it hands jobs to the reader and the thread, and never waits itself.
feature_service_actor spawn_feature_service(caf::actor_system& system,
                                            feature_service_config config);

} // namespace graphmill
