#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/links/link_losses.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/edge_scorer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

/// How many of some rows a thread ranks together: as many as the lists of nodes
/// that are no candidates of them have room for, and one at the least.
/// @param known Known links at the ranked end of each row; not empty.
std::size_t ranked_together(std::span<const std::size_t> known);

/// Bytes of these lists in all threads, at the most. A hub has millions of
/// known links. @param rows That are ranked. @param candidates Of a row.
std::uint64_t ranked_list_bytes(std::int64_t rows, std::int64_t candidates,
                                std::int64_t threads);

} // namespace graphmill
