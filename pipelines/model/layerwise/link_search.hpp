#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/kernels/links/link_queries.hpp"
#include "pipelines/kernels/links/link_scores.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/layerwise/original_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// The other end of a link, and the link's score.
struct found_link {
  node_id node = 0; ///< Original id.
  float score = 0;
};

/// Finds, for nodes at one end of an edge type, the nodes at its other end with
/// the largest scores, the best first, and of the same score the one with the
/// smallest id. Scores are those of the decoder, of outputs of all nodes, so
/// nothing is sampled.
///
/// Queries meet candidates in blocks, and only the best of each query are kept.
/// Where scores are products, a product of matrices says which candidates may
/// be among the best, within its rounding, and these are scored again one by
/// one. So the result does not depend on threads and parts, nor on which others
/// are asked for; but with bilinear and mlp, the last digits may depend on
/// these.
///
/// Used by one thread; borrows all but the pool.
class link_search {
public:
  struct setting {
    const model_layout* layout = nullptr; ///< With a decoder of links.
    const parameter_store* parameters = nullptr;
    const original_graph* graph = nullptr;
    std::int32_t relation = 0; ///< Place in the task's edge types.
    edge_type_id edge_type = 0;
    query_side given = query_side::source; ///< The end whose nodes are asked.
    const_matrix queries;    ///< Outputs of all nodes of the type of that end,
    const_matrix candidates; ///< and of that of the other end.
    std::int64_t most = 1;   ///< Links of a query.
    /// Whether links that the graph has, in any split or none, may be found,
    /// and those of a node with itself.
    bool keeps_known = false;
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
    std::function<bool()> stopped = {}; ///< As of `layerwise_model::options`.
    /// After each block of candidates; how many of them are done. May be empty.
    std::function<void(std::int64_t)> on_block = {};
  };

  explicit link_search(setting how);

  /// As many nodes as `find` should get at a time, so that what it keeps of
  /// them stays within bounds.
  std::int64_t most_queries() const;

  /// What is found for each of some nodes, in their order. Less than `most` if
  /// the other candidates are known. Fails with `cancelled` once stopped, and
  /// with `out_of_memory`.
  result<std::vector<std::vector<found_link>>>
  find(std::span<const node_id> nodes);

private:
  struct block;
  using known_lists = std::vector<std::vector<local_id>>;

  result<void> search(std::span<const node_id> nodes);
  result<known_lists> lists_of(std::span<const node_id> nodes) const;
  owned_matrix queries_of(std::span<const node_id> nodes) const;
  void meet(const block& with, std::span<const node_id> nodes);
  void meet_perceptron(const block& with, std::span<const node_id> nodes);
  void take(const block& with, std::size_t query, float* scores);
  void keep(std::size_t query, found_link one);
  std::int64_t width() const { return set_.queries.columns; }

  const setting set_;
  const comparison how_;
  const bool own_type_; ///< Both ends are of one node type.
  // Of the nodes of a call:
  owned_matrix queries_;
  std::vector<double> lengths_;               ///< Of queries.
  known_lists known_;                         ///< Ascending in each.
  std::vector<std::vector<found_link>> best_; ///< Heaps, the worst in front.
};

} // namespace graphmill
