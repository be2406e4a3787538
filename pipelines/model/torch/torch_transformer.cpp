#include "pipelines/model/torch/torch_transformer.hpp"

#include <cmath>

namespace graphmill {

/// The sum of all messages. [rows, width of all heads]
at::Tensor torch_transformer::messages(std::size_t type,
                                       std::int64_t rows) const {
  const auto& layer_shape = shape();
  const auto heads = layer_shape.heads;
  const auto width = layer_shape.inside / heads;
  const auto by_head = [heads, width](const at::Tensor& x) {
    return x.view({x.size(0), heads, width});
  };
  // Entries of all relations, which one softmax takes together.
  std::vector<at::Tensor> scores, values, destinations;
  std::vector<dropout> drops;
  for (std::size_t r = 0; r < layout.relations.size(); ++r) {
    const auto& ends = layout.relations[r];
    if (layer_shape.weights[r] == absent
        || ends.destination != static_cast<node_type_id>(type))
      continue;
    const auto& from = layer_shape.types[ends.source];
    const auto& to = layer_shape.types[type];
    const auto of = edges(r);
    const auto& sources = h[ends.source];
    const auto keys = by_head(at::mm(sources, at(from.key)));
    const auto value =
      by_head(at::mm(sources, at(from.value)) + at(from.value_bias));
    const auto queries = by_head(
      at::mm(h[type].narrow(0, 0, rows), at(to.query)) + at(to.query_bias));
    const auto mapped =
      at::einsum("nhd,hde->nhe", {keys, at(layer_shape.score_maps[r])});
    scores.push_back((mapped.index_select(0, of.sources)
                      * queries.index_select(0, of.destinations))
                       .sum(-1)
                     * at(layer_shape.priors[r])
                     / std::sqrt(static_cast<double>(width)));
    if (of.weights.defined())
      scores.back() = scores.back() + of.weights.log();
    values.push_back(
      at::einsum("nhd,hde->nhe", {value, at(layer_shape.weights[r])})
        .index_select(0, of.sources));
    destinations.push_back(of.destinations);
    drops.push_back(drop(r));
  }
  if (scores.empty())
    return at::zeros({rows, layer_shape.inside}, h[type].options());
  const auto to = at::cat(destinations);
  const auto softmax = softmax_by(at::cat(scores), to, rows);
  std::vector<at::Tensor> weights;
  std::int64_t first = 0;
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const auto count = scores[k].size(0);
    weights.push_back(
      graphmill::drop(softmax.narrow(0, first, count), drops[k]));
    first += count;
  }
  return sum_by(to, at::cat(values) * at::cat(weights).unsqueeze(-1), rows)
    .flatten(1);
}

at::Tensor torch_transformer::output(std::size_t type,
                                     std::int64_t rows) const {
  const auto& of_type = shape().types[type];
  const auto made = at::mm(at::gelu(messages(type, rows)), at(of_type.inner));
  auto own = h[type].narrow(0, 0, rows);
  if (of_type.skip != absent)
    own = at::mm(own, at(of_type.skip));
  const auto share = at(of_type.gate).sigmoid();
  return made * share + own * (1 - share);
}

} // namespace graphmill
