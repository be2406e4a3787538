#pragma once

#include "partition/sampling.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// scores[type][global id]: how much a node's row is wanted.
using node_scores = std::vector<std::vector<double>>;

/// How likely each node is in a batch of `batch_seeds` of `seeds`: the vertex
/// inclusion probabilities of SALIENT++ (Kaler et al., arXiv 2305.03152),
/// propagated hop by hop over the in-edges of all parts. With p of hop 0 =
/// batch_seeds / seeds for seeds,
///
///     p_h(u) = 1 - product over in-edges (u, v) of 1 - p_{h-1}(v) d_h(v),
///
/// where d_h(v) is the probability that an in-edge of v is drawn; and in all 1
/// minus the product over hops of 1 - p_h(u). Takes nodes as independent, which
/// they are not quite.
/// @param shards All parts, in order.
/// @param seeds Global ids of the target type: of one trainer.
node_scores
inclusion_probabilities(const partitioned_graph& graph,
                        std::span<const std::shared_ptr<const shard>> shards,
                        const sampling_plan& plan,
                        std::span<const node_id> seeds,
                        std::int64_t batch_seeds);

/// Out-degrees over all edge types: the simpler order to compare with.
node_scores degree_scores(const partitioned_graph& graph,
                          std::span<const std::shared_ptr<const shard>> shards);

/// Rows of other parts that a part keeps.
struct hot_nodes {
  std::vector<std::vector<node_id>> ids; ///< Per type, ascending.
  std::uint64_t bytes = 0;               ///< Of their rows, as float32.
};

/// The nodes with features that `part` does not own, best first, as many as fit
/// into `budget` bytes; none with score 0. Of equal scores, types in dataset
/// order and lower ids first.
hot_nodes choose_hot_nodes(const partitioned_graph& graph, part_id part,
                           const node_scores& scores, std::uint64_t budget);

} // namespace graphmill
