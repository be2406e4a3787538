#include "pipelines/flow/batch_needs.hpp"

namespace graphmill {

batch_needs needs_of(const definition& def, const dataset_info& info) {
  const auto kind = def.model.kind;
  batch_needs needs;
  needs.merged_relations = kind != model_kind::rgcn;
  needs.degrees = kind == model_kind::gcn;
  for (const auto& type : info.node_types)
    // Without a gradient to carry, the transposed CSR still lets a layer that
    // narrows its input transform before it sums.
    needs.input_gradient |= type.feature_width == 0
                            || type.feature_width > 2 * def.model.hidden
                            || kind == model_kind::gat;
  return needs;
}

} // namespace graphmill
