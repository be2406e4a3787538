#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/graph_view.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/graph/monitor.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// A graph as METIS wants it: symmetric, without self-loops, each neighbour
/// once, lists ascending. The weight of a pair is the number of edges between
/// the two, of all types and both directions.
struct adjacency {
  std::vector<std::int64_t> begin;    ///< [vertices + 1] into the others.
  std::vector<std::int32_t> vertices; ///< Each pair twice: u-v and v-u.
  std::vector<std::int32_t> weights;

  vertex_id size() const { return static_cast<vertex_id>(begin.size()) - 1; }
  std::int64_t entries() const { return begin.back(); }
  std::int64_t degree(vertex_id v) const { return begin[v + 1] - begin[v]; }

  /// Calls `visit(neighbour, weight)` for every neighbour of `v`.
  template <class Visit>
  void for_each_neighbour(vertex_id v, Visit visit) const {
    for (auto i = begin[v]; i < begin[v + 1]; ++i)
      visit(vertex_id{vertices[i]}, std::int64_t{weights[i]});
  }
};

/// Builds the adjacency of a dataset's graph. Besides the mapped dataset it
/// takes 8 bytes of memory per edge and 8 to 16 per vertex, and at the end
/// another 4 bytes per entry. Fails when there are more vertices, entries or
/// edges than METIS can number (2^31 - 1), with `cancelled` when `watch` wants
/// the work to end, and when a mapped file cannot be read any more.
result<adjacency> build_adjacency(const graph_view& graph, monitor& watch);

/// Gives the neighbours of a vertex as the adjacency has them: each once, with
/// the weight of the pair. The adjacency must outlive what is returned.
neighbour_lists neighbours_of(const adjacency& graph);

} // namespace graphmill
