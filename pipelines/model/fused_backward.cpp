#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/kernels/layer_norm.hpp"
#include "pipelines/kernels/table_gradient.hpp"
#include "pipelines/model/fused_model.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <cstring>

namespace graphmill {

namespace {

/// into += the sum of `width` values per piece, in the order of pieces.
void add_pieces(const std::vector<float>& pieces, std::int64_t width,
                std::int64_t first, std::int64_t stride, float* into) {
  const auto count = static_cast<std::int64_t>(pieces.size()) / stride;
  for (std::int64_t p = 0; p < count; ++p)
    for (std::int64_t c = 0; c < width; ++c)
      into[c] += pieces[p * stride + first + c];
}

} // namespace

matrix fused_model::gradient_of(int parameter, gradient_set& out) const {
  const auto& info = layout_.parameters[static_cast<std::size_t>(parameter)];
  const auto columns = info.shape.back();
  return {out.dense.data() + info.offset, info.size / columns, columns};
}

void fused_model::backward(const_matrix gradient, gradient_set& out,
                           const gradient_sink& on_final) {
  begin_gradients(layout_, how_.statistic, out);
  begin_backward(gradient, out);
  for (int l = layout_.hops; l-- > 0;) {
    backward_weights(l, out);
    // Parameters of later layers have greater offsets. Biases and norms of this
    // layer were finished by `backward_input` of the layer after it (the bias
    // of the last layer by `begin_backward`), its weights just now: all that
    // lies from its offset on is final.
    if (on_final)
      on_final(layout_.layers[l].offset);
    for (std::size_t t = 0; t < layout_.table_of.size(); ++t) {
      const auto type = static_cast<node_type_id>(t);
      if (layout_.layers[l].types[t].in != 0 && layout_.needs_gradient(l, type))
        backward_input(l, type, out);
    }
    layers_[l] = {};
  }
  table_gradients(out);
}

void fused_model::begin_backward(const_matrix gradient, gradient_set& out) {
  if (!links_)
    return begin_backward(layout_.target, gradient, out);
  links_->backward(gradient, out);
  for (const auto type : layout_.outputs)
    begin_backward(type, links_->gradient_of(type), out);
  links_.reset();
}

/// Goes from the gradient of the outputs of a type to that of what the last
/// layer computed ahead of norm and activation.
void fused_model::begin_backward(node_type_id type, const_matrix gradient,
                                 gradient_set& out) {
  if (!heads_.empty()) {
    heads_[type]->backward(gradient, gradient_of(layout_.jumping_weight, out),
                           gradient_of(layout_.jumping_bias, out).data);
    return backward_input(layout_.hops, type, out);
  }
  if (!means_.empty()) {
    means_[type]->backward(gradient);
    return backward_input(layout_.hops, type, out);
  }
  auto& last = layers_.back().types[type];
  last.gradient = {gradient.rows, gradient.columns, how_.pool};
  std::copy(gradient.data, gradient.data + gradient.size(),
            last.gradient.data());
  const auto bias = layout_.layers.back().types[type].bias;
  if (bias != absent)
    add_column_sums(gradient, 0, gradient.rows, gradient_of(bias, out).data);
}

/// The gradient of what the messages of a layer add up to, all rows.
const_matrix fused_model::sum_gradient(int layer, node_type_id type) const {
  const auto& pass = layers_[layer].types[type];
  return layout_.layers[layer].types[type].inner == absent
           ? pass.gradient.view()
           : pass.inner_gradient.view();
}

void fused_model::backward_perceptron(int layer, node_type_id type,
                                      gradient_set& out) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  const auto upstream = pass.gradient.view();
  const auto rows = upstream.rows;
  add_product_tn(*how_.team, pass.inner.view(), upstream,
                 gradient_of(shape.inner, out), how_.pool);
  pass.inner_gradient = {rows, shape.sum, how_.pool};
  const auto gradient = pass.inner_gradient.view();
  const auto weight = parameters_.at(layout_, shape.inner);
  how_.team->for_pieces(
    rows, chunk_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply_nt(upstream.slice(begin, end), weight, 0,
                  gradient.slice(begin, end));
      activate_backward(pass.inner.view(), activation::relu, 1, begin, end,
                        gradient);
    });
  add_column_sums(gradient, 0, rows, gradient_of(shape.inner_bias, out).data);
}

void fused_model::backward_weights(int layer, gradient_set& out) {
  const auto& shape = layout_.layers[layer];
  auto& pass = layers_[layer];
  for (std::size_t t = 0; t < shape.types.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    if (shape.types[t].gate != absent)
      backward_gated(layer, type, out);
    else if (shape.types[t].inner != absent)
      backward_perceptron(layer, type, out);
    if (shape.types[t].self == absent)
      continue;
    input_of(layer, type)
      .add_product_tn(*how_.team, sum_gradient(layer, type),
                      gradient_of(shape.types[t].self, out), how_.pool);
  }
  if (pass.transformer)
    backward_transformer(layer, out);
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    if (!pass.relations[r])
      continue;
    const auto& relation = layout_.relations[r];
    message_pass::targets into;
    if (shape.weights[r] != absent)
      into.weight = gradient_of(shape.weights[r], out);
    for (auto other = r; layout_.bases != 0 && other < layout_.relations.size();
         ++other)
      if (layout_.relations[other].source == relation.source
          && layout_.relations[other].destination == relation.destination)
        into.factors.push_back(gradient_of(shape.factors[other], out).data);
    if (shape.epsilon != absent)
      into.epsilon = gradient_of(shape.epsilon, out).data;
    if (shape.pool_weights[r] != absent) {
      into.pool_weight = gradient_of(shape.pool_weights[r], out);
      into.pool_bias = gradient_of(shape.pool_biases[r], out).data;
    }
    if (shape.source_scores[r] != absent) {
      into.attention_source = gradient_of(shape.source_scores[r], out).data;
      into.destination_scores = gradient_of(shape.destination_scores[r], out);
    }
    if (shape.attention_source != absent)
      into.attention_source = gradient_of(shape.attention_source, out).data;
    if (shape.attention_destination != absent)
      into.attention_destination =
        gradient_of(shape.attention_destination, out).data;
    if (shape.attention_weight != absent)
      into.attention_weight = gradient_of(shape.attention_weight, out);
    pass.relations[r]->backward(sum_gradient(layer, relation.destination),
                                layout_.needs_gradient(layer, relation.source),
                                into);
  }
}

/// @param layer As many as there are layers for what enters the head.
void fused_model::backward_input(int layer, node_type_id type,
                                 gradient_set& out) {
  const auto width = layer > 0 ? layout_.layers[layer - 1].types[type].out
                               : layout_.layers[layer].types[type].in;
  const auto rows = input_rows(layer, type);
  auto& owner = layer > 0 ? layers_[layer - 1].types[type].gradient
                          : input_gradients_[type];
  owner = {rows, width, how_.pool};
  const auto gradient = owner.view();
  const auto stride = 3 * width; // Gradients of bias, gain, shift.
  const auto pieces = (rows + chunk_rows - 1) / chunk_rows;
  std::vector<float> sums(static_cast<std::size_t>(pieces * stride));
  how_.team->for_pieces(
    rows, chunk_rows,
    [&](std::int64_t piece, std::int64_t begin, std::int64_t end) {
      const auto here = gradient.slice(begin, end);
      if (layer < layout_.hops)
        backward_rows(layer, type, begin, end, gradient);
      else
        std::fill(here.data, here.data + here.size(), 0.0f);
      if (!heads_.empty() && layer > 0 && heads_[type])
        heads_[type]->add_gradient(layer - 1, begin, end, here);
      if (!means_.empty() && means_[type])
        means_[type]->add_gradient(begin, end, here);
      finish_gradient(layer, type, begin, end, gradient,
                      sums.data() + piece * stride);
    });
  if (layer == 0)
    return;
  const auto& shape = layout_.layers[layer - 1].types[type];
  if (shape.bias != absent)
    add_pieces(sums, width, 0, stride, gradient_of(shape.bias, out).data);
  if (shape.norm_gain == absent)
    return;
  add_pieces(sums, width, width, stride,
             gradient_of(shape.norm_gain, out).data);
  add_pieces(sums, width, 2 * width, stride,
             gradient_of(shape.norm_shift, out).data);
}

/// The gradient of rows that enter `layer`. Only the first rows enter the
/// product with W_self, so `filled` tells below which row there is something to
/// add to; the others are overwritten or set to zero, which saves a pass.
void fused_model::backward_rows(int layer, node_type_id type,
                                std::int64_t begin, std::int64_t end,
                                matrix gradient) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer];
  const auto self_rows = shape.self == absent ? 0 : output_rows(layer, type);
  auto filled = std::clamp(self_rows, begin, end);
  if (filled > begin)
    multiply_nt(sum_gradient(layer, type).slice(begin, filled),
                parameters_.at(layout_, shape.self), 0,
                gradient.slice(begin, filled));
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    if (!pass.relations[r] || layout_.relations[r].source != type)
      continue;
    pass.relations[r]->add_input_gradient(begin, end, filled,
                                          gradient.slice(begin, end));
    filled = end;
  }
  if (pass.transformer) {
    pass.transformer->add_input_gradient(type, begin, end, filled,
                                         gradient.slice(begin, end));
    filled = end;
  }
  if (filled < end)
    std::memset(gradient.row(filled), 0,
                static_cast<std::size_t>((end - filled) * shape.in)
                  * sizeof(float));
  for (std::size_t r = 0; r < layout_.relations.size(); ++r)
    if (pass.relations[r] && layout_.relations[r].destination == type)
      pass.relations[r]->add_destination_gradient(begin, end,
                                                  gradient.slice(begin, end));
  const auto added = std::clamp(output_rows(layer, type), begin, end);
  if (shape.gate != absent && added > begin)
    add_gate_gradient(layer, type, begin, added, gradient.slice(begin, added));
  if (shape.residual)
    add_rows(pass.types[type].gradient.view().slice(begin, added),
             gradient.slice(begin, added));
}

/// Goes from the gradient of what enters `layer` to the gradient of what the
/// layer before it computed ahead of norm, activation and dropout, in place.
/// @param sums Receives the gradients of that layer's bias, gain and shift from
/// these rows: kept per chunk, and added up in the order of chunks later, so
/// that they do not depend on the number of threads.
void fused_model::finish_gradient(int layer, node_type_id type,
                                  std::int64_t begin, std::int64_t end,
                                  matrix gradient, float* sums) {
  const const_matrix input = layer == 0
                               ? layers_.front().types[type].input
                               : layers_[layer - 1].types[type].output.view();
  const auto scale = dropout_scale(layer, type);
  if (layer == 0) {
    if (dropout_of(0, type).threshold != 0)
      activate_backward(input, activation::none, scale, begin, end, gradient);
    return;
  }
  const auto& before = layout_.layers[layer - 1];
  const auto& shape = before.types[type];
  const auto& pass = layers_[layer - 1].types[type];
  const auto width = gradient.columns;
  activate_backward(input, before.after, scale, begin, end, gradient);
  if (shape.norm_gain != absent) {
    layer_norm norm;
    norm.gain = parameters_.at(layout_, shape.norm_gain).data;
    normalise_backward(norm, pass.normalised.view(),
                       pass.inverse_deviation.data(), begin, end, gradient,
                       sums + width, sums + 2 * width);
  }
  add_column_sums(gradient, begin, end, sums);
}

void fused_model::table_gradients(gradient_set& out) {
  out.tables.clear();
  for (const auto& table : layout_.tables) {
    auto& sparse = out.tables.emplace_back();
    if (layout_.layers.front().types[table.type].in == 0)
      continue; // No layer reads it.
    set_table_gradient(input_gradients_[table.type].view(),
                       batch_.data.embedding_rows[table.type].span(), sparse);
  }
}

} // namespace graphmill
