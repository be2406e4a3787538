#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
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
  auto& last = layers_.back().types[layout_.target];
  last.gradient = {gradient.rows, gradient.columns, how_.pool};
  std::copy(gradient.data, gradient.data + gradient.size(),
            last.gradient.data());
  const auto bias = layout_.layers.back().types[layout_.target].bias;
  add_column_sums(gradient, 0, gradient.rows, gradient_of(bias, out).data);
  for (int l = layout_.hops; l-- > 0;) {
    backward_weights(l, out);
    // Parameters of later layers have greater offsets. Biases and norms of this
    // layer were finished by `backward_input` of the layer after it (the bias
    // of the last layer above), its weights just now: all that lies from its
    // offset on is final.
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

void fused_model::backward_weights(int layer, gradient_set& out) {
  const auto& shape = layout_.layers[layer];
  auto& pass = layers_[layer];
  for (std::size_t t = 0; t < shape.types.size(); ++t) {
    if (shape.types[t].self == absent)
      continue;
    const auto rows = output_rows(layer, static_cast<node_type_id>(t));
    add_product_tn(*how_.team, pass.types[t].input.slice(0, rows),
                   pass.types[t].gradient.view(),
                   gradient_of(shape.types[t].self, out), how_.pool);
  }
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    if (!pass.relations[r])
      continue;
    const auto& relation = layout_.relations[r];
    message_pass::targets into{.weight = gradient_of(shape.weights[r], out)};
    if (shape.attention_source != absent)
      into.attention_source = gradient_of(shape.attention_source, out).data;
    if (shape.attention_destination != absent)
      into.attention_destination =
        gradient_of(shape.attention_destination, out).data;
    if (shape.attention_weight != absent)
      into.attention_weight = gradient_of(shape.attention_weight, out);
    pass.relations[r]->backward(
      pass.types[relation.destination].gradient.view(),
      layout_.needs_gradient(layer, relation.source), into);
  }
}

void fused_model::backward_input(int layer, node_type_id type,
                                 gradient_set& out) {
  const auto width = layout_.layers[layer].types[type].in;
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
      backward_rows(layer, type, begin, end, gradient);
      finish_gradient(layer, type, begin, end, gradient,
                      sums.data() + piece * stride);
    });
  if (layer == 0)
    return;
  const auto& shape = layout_.layers[layer - 1].types[type];
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
    multiply_nt(pass.types[type].gradient.view().slice(begin, filled),
                parameters_.at(layout_, shape.self), 0,
                gradient.slice(begin, filled));
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    if (!pass.relations[r] || layout_.relations[r].source != type)
      continue;
    pass.relations[r]->add_input_gradient(begin, end, filled,
                                          gradient.slice(begin, end));
    filled = end;
  }
  if (filled < end)
    std::memset(gradient.row(filled), 0,
                static_cast<std::size_t>((end - filled) * shape.in)
                  * sizeof(float));
}

/// Goes from the gradient of what enters `layer` to the gradient of what the
/// layer before it computed ahead of norm, activation and dropout, in place.
/// @param sums Receives the gradients of that layer's bias, gain and shift from
/// these rows: kept per chunk, and added up in the order of chunks later, so
/// that they do not depend on the number of threads.
void fused_model::finish_gradient(int layer, node_type_id type,
                                  std::int64_t begin, std::int64_t end,
                                  matrix gradient, float* sums) {
  const auto input = layers_[layer].types[type].input;
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
