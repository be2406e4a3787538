#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace graphmill {

/// How edges of a batch are laid out for a consumer.
enum class edge_layout : std::uint8_t {
  coo, ///< Pairs of local ids, hop by hop.
  csr, ///< Lists of sources for each node that a hop expands.
};

/// How rows of a task of edges are laid out for a consumer.
enum class link_row_form : std::uint8_t {
  pairs,    ///< Edges, then their negatives, as pairs with labels.
  triplets, ///< Edges, and beside each the nodes of its negatives.
};

/// What a consumer of batches wants of them, and in which layout. Value type.
struct batch_form {
  edge_layout layout = edge_layout::coo;
  /// All edge types as one, whose edges have numbers of types; for graphs of
  /// one node type.
  bool merged = false;
  bool edge_ids = false;      ///< Original ids, within the edge type.
  bool edge_weights = false;  ///< Of types that have weights.
  bool edge_features = false; ///< Of types that have features.
  bool degrees = false;       ///< In-degrees over the full graph.
  bool ages = false;  ///< Of edges with times; with trees, times of rows, too.
  bool trees = false; ///< Nodes have rows: each row has a tree of its own.
  /// Edges of all types have weights: how often walks came to their sources.
  bool visits = false;

  // Of tasks of edges.
  link_row_form rows = link_row_form::pairs;
  bool labels = true; ///< Rows have some: not edges that a user names.
  bool wrong_destinations = false; ///< Whether rows have such negatives.
  bool wrong_sources = false;      ///< Likewise.

  bool has_negatives() const { return wrong_destinations || wrong_sources; }
  friend bool operator==(const batch_form&, const batch_form&) = default;
};

/// What an array of a batch is about.
enum class array_of : std::uint8_t {
  node_type, ///< `formed_slot::type` is a node type.
  edge_type, ///< It is an edge type.
  all_edges, ///< Of all edge types: `batch_form::merged`.
};

/// An array that every batch of a form has. Value type.
struct formed_slot {
  /// Of node types: "x" [nodes, width], "n_id" [nodes] original ids, "batch"
  /// [nodes] the row of the batch whose tree a node is in, "degree" [nodes],
  /// "y" [seeds] or [seeds, columns], "input_id" [seeds] positions among the
  /// seeds of the split. Of edges: "edge_index" [2, edges] sources above
  /// destinations, or "indptr" [rows + 1] and "indices" [edges]; "e_id",
  /// "edge_weight", "edge_type" [edges]; "edge_attr" [edges, width];
  /// "edge_age" [edges] how long before the time of its row an edge was. Of
  /// trees with ages, "seed_time" [seeds] in ticks.
  ///
  /// Of rows of a task, in place of "y": "edge_label_index" [2, pairs] local
  /// ids, the edges, then their negatives, edge by edge; "edge_label" [pairs]
  /// or [pairs, columns]. Or of triplets "src_index" and "dst_pos_index"
  /// [edges], "dst_neg_index" and "src_neg_index" [edges] or [edges,
  /// negatives], or [negatives] that all edges share. "edge_label_weight",
  /// "edge_label_type" [pairs or edges], "input_id" [edges]. Of trees with
  /// ages, "edge_label_time" [pairs], or of triplets "seed_time" [edges].
  std::string_view name; ///< Of a literal.
  array_of about = array_of::node_type;
  std::int32_t type = 0;
  dtype element = dtype::int64;
};

/// The arrays of all batches of a form, in their order.
/// @param info As `choose_target` shows it.
std::vector<formed_slot> slots_of(const batch_form& form,
                                  const dataset_info& info);

/// What earlier stages must bring for a form.
batch_needs needs_of(const batch_form& form, const dataset_info& info);

} // namespace graphmill
