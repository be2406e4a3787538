#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/graph/monitor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// The typed graph of a dataset as one graph over all its nodes, with the edges
/// of all types together: the form in which partitioners see it, who care for
/// no types. It borrows the dataset's mapped arrays and copies none. It does
/// not change after `open`, so any number of threads may read it at once.
///
/// What it gives has been checked: no position or id leads outside an array,
/// as long as nobody writes to the files.
class graph_view {
public:
  /// The in-edges of one type, checked: `indptr` ascends from 0 to the number
  /// of edges, and every index is a node of the source type.
  struct relation {
    edge_type_id type = 0;
    node_type_id source = 0;
    node_type_id destination = 0;
    std::span<const std::int64_t> indptr;
    id_span indices;
  };

  /// Reads every edge and every seed once, to check them. Fails with
  /// `invalid_data` and the name of the file that is wrong, or with `cancelled`
  /// when `watch` wants the work to end.
  /// @param data Must outlive the view.
  static result<graph_view> open(const dataset& data, monitor& watch);

  const dataset& data() const { return *data_; }
  const dataset_info& info() const { return data_->info(); }

  vertex_id vertex_count() const { return type_begin_.back(); }
  std::int64_t edge_count() const { return edge_count_; }
  /// [node types + 1] The first vertex of each node type, and at the end the
  /// number of vertices.
  const std::vector<vertex_id>& type_begin() const { return type_begin_; }
  /// The node type of a vertex, by binary search.
  node_type_id type_of(vertex_id v) const;

  std::span<const relation> relations() const { return relations_; }
  /// Seeds of a split in seed order; no value if the type lacks the split.
  std::optional<std::span<const node_id>> seeds(node_type_id type,
                                                split which) const;

  /// Calls `visit(source)` for every in-edge of `v`, self-loops included: edge
  /// types in the order of the dataset, and the edges of each in list order.
  template <class Visit>
  void for_each_in_neighbour(vertex_id v, Visit visit) const {
    const auto type = type_of(v);
    const auto row = v - type_begin_[type];
    for (const auto& edges : relations_)
      if (edges.destination == type)
        for (auto i = edges.indptr[row]; i < edges.indptr[row + 1]; ++i)
          visit(type_begin_[edges.source] + edges.indices[i]);
  }

  /// How many in-edges of all types `v` has, self-loops included.
  std::int64_t in_degree(vertex_id v) const {
    const auto type = type_of(v);
    const auto row = v - type_begin_[type];
    std::int64_t sum = 0;
    for (const auto& edges : relations_)
      if (edges.destination == type)
        sum += edges.indptr[row + 1] - edges.indptr[row];
    return sum;
  }

  /// Gives the in-neighbours of a vertex without the vertex itself, one entry
  /// of weight 1 per edge. The view must outlive what is returned.
  neighbour_lists in_neighbours() const;

  /// What each vertex weighs; seeds are the train split of the target type.
  vertex_loads loads() const;

private:
  result<void> add_relation(edge_type_id type, monitor& watch);
  result<void> check_seeds() const;

  const dataset* data_ = nullptr;
  std::vector<vertex_id> type_begin_;
  std::vector<relation> relations_;
  std::int64_t edge_count_ = 0;
};

} // namespace graphmill
