#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/stages/batch_stage.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace graphmill {

struct fetch_job {
  batch_key key;
  std::shared_ptr<sampled_subgraph> graph;
  /// What it was sampled around. Null: no edges were excluded.
  std::shared_ptr<const batch_seeds> seeds = nullptr;
  edge_level level = all_levels; ///< Of edges that degrees and sums count.
  std::shared_ptr<const seed_batch> rows = nullptr; ///< If they are edges.
};
struct fetch_answer {
  std::shared_ptr<fetched_batch> batch; ///< `graph` has been moved into it.
};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::fetch_job)
GRAPHMILL_LOCAL_MESSAGE(graphmill::fetch_answer)

namespace graphmill {

/// The FETCHER: blocks to blocks with rows.
using fetcher_actor = worker_actor<fetch_job, fetch_answer>;

/// What a FETCHER needs.
struct fetcher_config {
  std::shared_ptr<const partitioned_graph> graph;
  std::vector<feature_service_actor> services; ///< One per part.
  batch_needs needs;
  std::uint32_t chunks = 1; ///< Pieces that a large request is cut into.
  std::chrono::milliseconds timeout = timeouts::service; ///< Of services.
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<stage_counters> counters;
};

/// Spawns a FETCHER: has the FEATURE SERVICES write the rows of a batch's nodes
/// straight into the batch. Of a task of edges, labels are not those of nodes,
/// and are left to the BATCHER.
fetcher_actor spawn_fetcher(caf::actor_system& system, fetcher_config config);

/// Its place on the way of a batch.
batch_stage fetching_by(fetcher_actor actor);

} // namespace graphmill
