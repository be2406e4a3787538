#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/stages/batch_stage.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/credit_ledger.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <spdlog/fwd.h>

#include <chrono>
#include <memory>
#include <vector>

namespace graphmill {

/// Gauges of a DISPATCHER that others may read at any time.
struct dispatcher_gauges {
  std::atomic<std::uint64_t> peak_bytes{0}; ///< Reserved at most.
  std::atomic<std::uint64_t> oversize{0};   ///< Batches above the whole budget.
  std::atomic<std::uint64_t> retried{0};    ///< Batches begun anew.
};

/// What a DISPATCHER needs.
struct dispatcher_config {
  std::shared_ptr<const partitioned_graph> graph;
  std::uint64_t run_seed = 0;
  bool excludes = true; ///< Links do not see themselves (`train.exclude`).
  batch_needs needs;
  credit_limits limits;       ///< Bytes and batches in flight, all trainers.
  std::uint32_t attempts = 3; ///< Times a batch may be begun.
  /// The longest pause before a batch is begun for the second time.
  std::chrono::milliseconds pause{100};
  std::chrono::milliseconds stage_timeout = timeouts::stage;
  /// The most that may pass from the end of a stage to the end of the run.
  std::chrono::milliseconds farewell = timeouts::stage_farewell;
  /// Credit held for longer is reported with the name of its holder.
  std::chrono::milliseconds patience = timeouts::credit_report;
  std::vector<batch_stage> stages; ///< The way of a batch; one at least.
  std::vector<trainer_actor> trainers;
  std::vector<rank_id> ranks; ///< Of `trainers`, ascending.
  caf::typed_actor<takes<run_failed>> conductor;
  std::shared_ptr<spdlog::logger> log;
  std::shared_ptr<dispatcher_gauges> gauges;
  std::shared_ptr<actor_gauge> gauge; ///< Null: nobody looks at it.
};

/// Spawns the DISPATCHER of the trainers of this process. Their batches are
/// numbered by step, then rank, and admitted in that order while the CREDIT
/// LEDGER has room; each then goes through the stages, one after the other, and
/// waits for its turn at its trainer. A batch that a stage loses is begun anew
/// after a pause, which doubles with each attempt and differs from batch to
/// batch: what was lost because others had too much to do does not come back to
/// them all at once. Exactness makes that safe. After `attempts`, or an error
/// that would come again, the run fails with an error that names the batch and
/// the cause. A phase that has not ended when the next one begins is abandoned:
/// its batches that no trainer has are dropped.
dispatcher_actor spawn_dispatcher(caf::actor_system& system,
                                  dispatcher_config config);

} // namespace graphmill
