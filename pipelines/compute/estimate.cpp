#include "pipelines/replica.hpp"

#include "pipelines/compute/model_layout.hpp"
#include "pipelines/compute/optimizer.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// The most nodes of `type` known after hop `hop`, by the fanouts of the
/// definition where they are finite.
double known(const definition& def, const dataset_info& info,
             const subgraph_bound& bound, node_type_id type, int hop) {
  const auto seeds =
    double(std::max(def.train.batch_size, def.evaluate.batch_size));
  const auto total = double(bound.nodes[type]);
  if (!def.sampler.edge_fanouts.empty()
      || def.evaluate.neighbours == neighbour_use::all)
    return total;
  double frontier = seeds;
  double all = seeds;
  for (int h = 0; h < hop; ++h) {
    const auto fanout = def.sampler.fanouts[static_cast<std::size_t>(h)];
    if (fanout < 0)
      return total;
    frontier *= double(fanout) * double(info.edge_types.size());
    all += frontier;
  }
  return std::min(total, all);
}

} // namespace

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

memory_estimate estimate_memory(const definition& def, const dataset_info& info,
                                const subgraph_bound& bound) {
  const auto layout = make_layout(def, info);
  if (!layout)
    return {};
  const auto& shape = layout.value();
  // Values, moments, the best so far; dense gradients of all ranks, twice.
  const auto copies = 2 + optimizer::moments(def.optimizer);
  memory_estimate out;
  out.parameters = static_cast<std::uint64_t>(
    (shape.parameter_count() * copies + 2 * shape.dense_size) * 4);
  double kept = 0;      // By forward for backward, floats.
  double transient = 0; // The most that backward of one layer adds.
  for (int l = 0; l < shape.hops; ++l) {
    const auto& layer = shape.layers[l];
    double gradients = 0;
    for (std::size_t t = 0; t < layer.types.size(); ++t) {
      const auto& type = layer.types[t];
      const auto id = static_cast<node_type_id>(t);
      const auto inputs = known(def, info, bound, id, shape.hops - l);
      const auto rows = known(def, info, bound, id, shape.hops - l - 1);
      const auto norm = type.norm_gain == absent ? 1.0 : 2.0;
      kept += rows * double(type.out) * norm;
      if (l == 0 && (shape.drop_input || shape.table_of[t] != absent))
        kept += inputs * double(type.in);
      gradients += rows * double(type.out);
      if (shape.needs_gradient(l, id))
        gradients += inputs * double(type.in);
    }
    for (std::size_t r = 0; r < shape.relations.size(); ++r) {
      const auto& relation = shape.relations[r];
      const auto rows = std::min(
        known(def, info, bound, relation.destination, shape.hops - l - 1),
        shape.relations.size() == 1 ? double(bound.nodes[0])
                                    : double(bound.edges[r]));
      const auto in = double(layer.types[relation.source].in);
      kept += rows * in;
      gradients += rows * in;
    }
    transient = std::max(transient, gradients);
  }
  // Blocks are rounded up to size classes, at most by a quarter.
  out.activations = static_cast<std::uint64_t>((kept + transient) * 4 * 1.25);
  return out;
}

} // namespace graphmill
