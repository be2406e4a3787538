#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/fused_model.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/skip_gate.hpp"
#include "pipelines/model/passes/transformer_layer.hpp"

// What layers of heterogeneous graph transformers have of their own.

namespace graphmill {

namespace {

void scale_values(float by, matrix x) {
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data[i] *= by;
}

} // namespace

const_matrix fused_model::values_of(int parameter) const {
  return parameter == absent ? const_matrix{}
                             : parameters_.at(layout_, parameter);
}

skip_gate fused_model::gate_of(int layer, node_type_id type) const {
  return skip_gate{*values_of(layout_.layers[layer].types[type].gate).data};
}

std::unique_ptr<transformer_layer> fused_model::make_transformer(int layer) {
  const auto& shape = layout_.layers[layer];
  const auto rank = batch_.data.key.rank;
  transformer_layer::setting how{.types = {},
                                 .relations = {},
                                 .heads = shape.heads,
                                 .width = shape.inside,
                                 .team = how_.team,
                                 .pool = how_.pool};
  for (std::size_t t = 0; t < shape.types.size(); ++t) {
    const auto& type = shape.types[t];
    how.types.push_back(
      {.input = input_of(layer, static_cast<node_type_id>(t)),
       .rows = output_rows(layer, static_cast<node_type_id>(t)),
       .key = values_of(type.key),
       .value = values_of(type.value),
       .value_bias = values_of(type.value_bias).data,
       .query = values_of(type.query),
       .query_bias = values_of(type.query_bias).data});
  }
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    auto& relation = how.relations.emplace_back();
    relation.source = layout_.relations[r].source;
    relation.destination = layout_.relations[r].destination;
    if (shape.weights[r] == absent)
      continue;
    const auto& edges = batch_.relations[r];
    relation.forward = &edges.forward;
    if (how_.training)
      relation.transposed = &edges.transposed[layer];
    relation.message = values_of(shape.weights[r]);
    relation.attention = values_of(shape.score_maps[r]);
    relation.prior = values_of(shape.priors[r]).data;
    relation.drop =
      edge_dropout(how_.key, layer, static_cast<int>(r), rank,
                   how_.training ? layout_.attention_threshold : 0);
  }
  return std::make_unique<transformer_layer>(std::move(how));
}

/// What the messages of rows [begin, end) add up to goes through GELU and a
/// matrix, and the gate.
void fused_model::forward_gated(int layer, node_type_id type,
                                std::int64_t begin, std::int64_t end,
                                matrix rows) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  gelu(pass.sums.view(), begin, end, pass.inner.view());
  multiply(pass.inner.view().slice(begin, end), values_of(shape.inner), 0,
           rows);
  gate_of(layer, type)
    .blend(input_of(layer, type), begin, end, values_of(shape.skip), rows,
           how_.pool);
}

/// The product of the gate's gradient with both of its terms needs neither of
/// them: they are products, so that it is one of their weights with the
/// gradients of these.
void fused_model::backward_gated(int layer, node_type_id type,
                                 gradient_set& out) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  const auto gate = gate_of(layer, type);
  const auto upstream = pass.gradient.view();
  const auto rows = upstream.rows;
  const auto weight = values_of(shape.inner);
  const auto into = gradient_of(shape.inner, out);
  add_product_tn(*how_.team, pass.inner.view(), upstream, into, how_.pool);
  auto difference = inner_product(weight, into, weight.rows);
  scale_values(gate.share(), into);
  if (shape.skip == absent) {
    difference -= inner_product(pass.input, upstream, rows);
  } else {
    const auto skipping = values_of(shape.skip);
    const auto skip_into = gradient_of(shape.skip, out);
    input_of(layer, type)
      .add_product_tn(*how_.team, upstream, skip_into, how_.pool);
    difference -= inner_product(skipping, skip_into, skipping.rows);
    scale_values(1 - gate.share(), skip_into);
  }
  *gradient_of(shape.gate, out).data +=
    static_cast<float>(gate.slope() * difference);
  pass.inner_gradient = {rows, shape.sum, how_.pool};
  const auto gradient = pass.inner_gradient.view();
  how_.team->for_pieces(
    rows, chunk_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply_nt(upstream.slice(begin, end), weight, 0,
                  gradient.slice(begin, end));
      gelu_backward(pass.sums.view(), gate.share(), begin, end, gradient);
    });
}

void fused_model::backward_transformer(int layer, gradient_set& out) {
  const auto& shape = layout_.layers[layer];
  const auto place = [&](int parameter) {
    return parameter == absent ? matrix{} : gradient_of(parameter, out);
  };
  std::vector<const_matrix> gradients;
  std::vector<transformer_layer::type_targets> types;
  for (std::size_t t = 0; t < shape.types.size(); ++t) {
    const auto& type = shape.types[t];
    gradients.push_back(type.out == 0
                          ? const_matrix{}
                          : sum_gradient(layer, static_cast<node_type_id>(t)));
    types.push_back({place(type.key), place(type.value), place(type.query),
                     place(type.value_bias).data, place(type.query_bias).data});
  }
  std::vector<transformer_layer::relation_targets> relations;
  for (std::size_t r = 0; r < layout_.relations.size(); ++r)
    relations.push_back({place(shape.score_maps[r]), place(shape.weights[r]),
                         place(shape.priors[r]).data});
  layers_[layer].transformer->backward(gradients, types, relations);
}

/// Adds what a gate has of the gradient of rows [begin, end) of the input.
void fused_model::add_gate_gradient(int layer, node_type_id type,
                                    std::int64_t begin, std::int64_t end,
                                    matrix rows) const {
  const auto& shape = layout_.layers[layer].types[type];
  gate_of(layer, type)
    .add_own_gradient(
      layers_[layer].types[type].gradient.view().slice(begin, end),
      values_of(shape.skip), rows, how_.pool);
}

} // namespace graphmill
