#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// The nodes of one type in a batch, owned by one part, that lose in-edges
/// because edges are excluded: what models read of all in-edges of a node, its
/// degree and the sum of their weights, is to be that of the graph without
/// these edges. Value type.
struct thinned_nodes {
  node_type_id type = 0;
  part_id part = 0;
  std::vector<node_id> ids;   ///< Global, ascending.
  std::vector<local_id> rows; ///< [ids] Local ids.
  /// [ids] In-edges that each node loses, of all edge types together.
  std::vector<std::int32_t> lost;
  /// Per edge type: which in-edges, by position in `ids`.
  std::vector<excluded_lists> excluded;
};

/// All nodes of a batch that lose in-edges, expanded or not, by type and part.
/// @param batch Sampled around `seeds`.
std::vector<thinned_nodes> thinned_nodes_of(const partitioned_graph& graph,
                                            const sampled_subgraph& batch,
                                            const batch_seeds& seeds);

} // namespace graphmill
