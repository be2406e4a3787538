#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

namespace graphmill {

/// What the model of a definition reads of a batch, so that earlier stages
/// bring only that. Value type.
struct batch_needs {
  bool merged_relations =
    true; ///< One relation in all; else one per edge type.
  bool degrees = false;
  bool input_gradient = false; ///< Layer 1 also needs a transposed CSR.
  bool weights = false;        ///< Of edges, for types with weights.
  /// Sums of the weights of in-edges, besides degrees.
  bool in_weights = false;
};
batch_needs needs_of(const definition& def, const dataset_info& info);

} // namespace graphmill
