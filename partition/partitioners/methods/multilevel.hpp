#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/graph_view.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/graph/monitor.hpp"
#include "partition/partitioners/graph/undirected_view.hpp"
#include "partition/partitioners/methods/metis.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

struct multilevel_outcome {
  std::vector<part_id> assignment; ///< [vertices]
  vertex_id coarse_vertices = 0;   ///< Of the graph that METIS has cut.
  std::int64_t coarse_edges = 0;
  std::uint64_t peak_memory_bytes = 0; ///< Of METIS's process.
};

/// Partitions by METIS on a coarsened graph (Meyerhenke, Sanders, Schulz:
/// "Parallel graph partitioning for complex networks", TPDS'17): clusters of
/// vertices (see clustering.hpp) become the vertices of a smaller graph, again
/// and again until METIS can cut it in seconds; on the way back, each level's
/// parts are refined (see refinement.hpp). Memory is O(vertices), about 200
/// bytes each with one node type, however many edges there are.
///
/// The balance is a wish, as METIS's is: check it.
/// @param loads Of the graph's vertices.
/// @param constraints Which of `loads` to balance; at least one.
result<multilevel_outcome>
partition_by_multilevel(const undirected_view& graph, const vertex_loads& loads,
                        const std::vector<int>& constraints,
                        const metis_options& options, monitor& watch);

} // namespace graphmill
