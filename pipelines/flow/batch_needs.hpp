#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

namespace graphmill {

/// What of a batch the model of a definition reads, so that earlier stages
/// bring that and nothing else. Value type.
struct batch_needs {
  bool merged_relations =
    true; ///< One relation in all; else one per edge type.
  bool degrees = false;
  bool input_gradient = false; ///< Layer 1 needs a transposed CSR, too.
  bool weights = false;        ///< Of edges, of the types that have some.
  /// Sums of the weights of in-edges, beside degrees.
  bool in_weights = false;
};
batch_needs needs_of(const definition& def, const dataset_info& info);

} // namespace graphmill
