#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/graph/monitor.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace graphmill {

using cluster_id = std::uint32_t;

/// The most vertices that can be clustered: 2^32 - 1.
inline constexpr vertex_id most_clustered =
  std::numeric_limits<cluster_id>::max();

/// Which cluster each vertex is in. Clusters are numbered by their first
/// vertex.
struct clustering {
  std::vector<cluster_id> of; ///< [vertices]
  cluster_id count = 0;
};

struct clustering_options {
  /// [vertices] What each vertex weighs, in any unit.
  std::vector<std::int64_t> weights;
  /// The most that a cluster weighs, unless a single vertex does already.
  std::int64_t most_weight = 0;
  std::uint64_t key = 0; ///< Of the order among equals.
};

/// Size-constrained label propagation (Meyerhenke, Sanders, Schulz:
/// "Partitioning complex networks via size-constrained clustering", SEA'14):
/// every vertex starts as a cluster of its own and joins, in a few sweeps, the
/// one that most of its edges lead to among those with room; vertices of low
/// degree first. Hubs stay where they are, for others to join them. What is
/// alone in the end joins others that are alone beside the same cluster.
/// Memory: 24 bytes per vertex while it works. Deterministic.
///
/// @tparam Graph `undirected_view` or `adjacency`, with at most
/// `most_clustered` vertices.
template <class Graph>
result<clustering> find_clusters(const Graph& graph,
                                 const clustering_options& options,
                                 monitor& watch);

} // namespace graphmill
