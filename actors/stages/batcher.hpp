#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/stages/batch_stage.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/feed/batch_form.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/flow/seed_table.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

struct assemble_job {
  std::shared_ptr<fetched_batch> batch; ///< Consumed.
  std::int64_t global_seeds = 0;
  batch_key key{};
  std::vector<seed_row> rows{}; ///< Of the seeds' table; forms tell them.
  /// What a batch has besides, if its seeds are edges; else null.
  std::shared_ptr<const seed_batch> edges = nullptr;
  std::vector<std::int64_t> times{}; ///< `batch_seeds::until` of the seeds.
};
struct assemble_answer {
  std::shared_ptr<minibatch> batch;
};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::assemble_job)
GRAPHMILL_LOCAL_MESSAGE(graphmill::assemble_answer)

namespace graphmill {

/// The BATCHER: assembles what the trainer takes.
using batcher_actor = worker_actor<assemble_job, assemble_answer>;

/// What a BATCHER needs.
struct batcher_config {
  std::shared_ptr<const partitioned_graph> graph;
  batch_needs needs;
  std::optional<batch_form> form; ///< None: as our trainers read batches.
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
  /// Rows of edges are told by their positions in the table, and not by the
  /// original ids of the edges.
  bool positions = false;
};

/// Spawns a BATCHER: merges relations and transposes them for backward, and
/// hands on what rows of a task of edges have. With a form it lays each batch
/// out as a `formed_batch` instead.
/// Consumes the batch of its job, so a job that fails half-way must begin anew
/// from the seeds.
batcher_actor spawn_batcher(caf::actor_system& system, batcher_config config);

/// Its place on the way of a batch.
batch_stage assembling_by(batcher_actor actor);

} // namespace graphmill
