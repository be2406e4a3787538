#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/partitioners/graph/graph_view.hpp"
#include "partition/partitioners/graph/monitor.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace graphmill {

/// A dataset's graph with its edges in both directions, in files: in-neighbours
/// as they lie in the dataset, out-neighbours from a file that `make` writes.
/// Both are read through the page cache, so that memory does not depend on the
/// number of edges. Owns the mappings of its files and borrows the graph. It
/// does not change once it is made, so any number of threads may read it.
class undirected_view {
public:
  /// Fails when the folder cannot be written to or a file cannot be read any
  /// more, and with `cancelled` when `watch` wants the work to end.
  /// @param graph Must outlive the view.
  /// @param folder An existing folder; gets a file of 4 bytes per edge (8 with
  /// 2^31 nodes and more), and while it is made, one of twice that size if
  /// `memory_bytes` do not hold it. Nothing is left there, however this ends.
  static result<undirected_view> make(const graph_view& graph,
                                      const std::filesystem::path& folder,
                                      std::uint64_t memory_bytes,
                                      monitor& watch);

  vertex_id size() const { return graph_->vertex_count(); }
  /// The sum of all degrees.
  std::int64_t entries() const { return 2 * graph_->edge_count(); }
  /// How many in-edges and out-edges `v` has. A self-loop counts twice here,
  /// though `for_each_neighbour` leaves it out.
  std::int64_t degree(vertex_id v) const {
    return graph_->in_degree(v) + out_begin_[v + 1] - out_begin_[v];
  }

  /// Calls `visit(neighbour, 1)` for every edge of `v` in either direction but
  /// self-loops.
  template <class Visit>
  void for_each_neighbour(vertex_id v, Visit visit) const {
    graph_->for_each_in_neighbour(v, [&](vertex_id u) {
      if (u != v)
        visit(u, std::int64_t{1});
    });
    for (auto i = out_begin_[v]; i < out_begin_[v + 1]; ++i)
      if (const auto u = out_[i]; u != v)
        visit(vertex_id{u}, std::int64_t{1});
  }

private:
  undirected_view(const graph_view& graph, npy_array begin, npy_array out);

  const graph_view* graph_;
  npy_array begin_file_;
  npy_array out_file_;
  std::span<const std::int64_t> out_begin_; ///< [vertices + 1]
  id_span out_;                             ///< Out-neighbours, list by list.
};

/// Gives the neighbours of a vertex as `for_each_neighbour` visits them. The
/// view must outlive what is returned.
neighbour_lists neighbours_of(const undirected_view& graph);

} // namespace graphmill
