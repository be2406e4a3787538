#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>

namespace graphmill {

/// What the consumer of batches reads of them, so that earlier stages bring
/// only that: the model of a definition, or whoever takes a form of batches.
/// Value type.
struct batch_needs {
  bool merged_relations =
    true; ///< One relation in all; else one per edge type.
  bool degrees = false;
  bool input_gradient = false;   ///< Layer 1 also needs a transposed CSR.
  bool weights = false;          ///< Of edges, for types with weights.
  bool edge_features = false;    ///< For types with features.
  bool ages = false;             ///< Of edges, for types with times.
  std::int64_t row_features = 0; ///< Of rows that are edges; 0: not read.
  /// Sums of the weights of in-edges, besides degrees.
  bool in_weights = false;
  bool backward = true;      ///< Layers need transposed CSRs.
  bool original_ids = false; ///< Of all nodes; else without features alone.
  bool unpacked = false;     ///< Packed rows are written out in the end.
  /// Trees and a form take them besides, for each node.
  std::uint64_t node_bytes = 0;
  std::uint64_t edge_bytes = 0; ///< A form takes them besides, for each edge.
  /// A form takes the bytes of rows that are edges so many times besides.
  std::uint64_t row_copies = 0;
};
batch_needs needs_of(const definition& def, const dataset_info& info);

} // namespace graphmill
