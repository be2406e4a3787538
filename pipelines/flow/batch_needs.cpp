#include "pipelines/flow/batch_needs.hpp"

#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"

namespace graphmill {

batch_needs needs_of(const definition& def, const dataset_info& info) {
  const auto& traits = traits_of(def.model.kind);
  batch_needs needs;
  needs.merged_relations = !traits.typed;
  needs.degrees = traits.needs_degrees();
  needs.weights = weighs_edges(def, info);
  needs.in_weights = needs.degrees && needs.weights;
  needs.edge_features = reads_edge_features(def, info);
  needs.ages = reads_ages(def, info);
  needs.row_features = decoded_edge_width(def, info);
  for (const auto& type : info.node_types)
    // Without a gradient to carry, the transposed CSR still lets a layer that
    // narrows its input, or that has packed rows, transform before it sums.
    needs.input_gradient |=
      type.feature_width == 0 || type.feature_width > 2 * def.model.hidden
      || row_form::of(type).packed() || traits.needs_transposed();
  return needs;
}

} // namespace graphmill
