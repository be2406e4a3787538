#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/links/link_losses.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/edge_scorer.hpp"

#include <memory>

namespace graphmill {

/// What ranks rows among all nodes of a type. All but the pool is borrowed.
struct node_ranking {
  const seed_batch* batch = nullptr; ///< With a `full_ranking`.
  const link_rows* rows = nullptr;   ///< Of the batch.
  const_matrix logits;               ///< Of edges and negatives of their own.
  edge_scorer* scorer = nullptr;     ///< After `forward`.
  link_loss_shape loss;
  thread_team* team = nullptr;
  std::shared_ptr<buffer_pool> pool;
};

/// Ranks and losses of all rows. Scores are made in blocks of some rows and
/// some nodes, counted, and forgotten: each thread has one block, whatever the
/// numbers of rows and nodes are. Results are the same for any number of
/// threads, and do not depend on which rows are ranked together.
link_ranks rank_among_all(const node_ranking& task);

} // namespace graphmill
