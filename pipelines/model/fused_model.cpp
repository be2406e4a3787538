#include "pipelines/model/fused_model.hpp"

#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/kernels/layer_norm.hpp"
#include "pipelines/kernels/table_gradient.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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

fused_model::fused_model(const model_layout& layout,
                         const parameter_store& parameters,
                         const minibatch& batch, options how)
  : layout_(layout), parameters_(parameters), batch_(batch),
    how_(std::move(how)), step_{layout,        parameters, batch,    how_.team,
                                how_.training, how_.key,   how_.pool},
    messages_(step_), input_gradients_(layout.table_of.size()),
    layers_(static_cast<std::size_t>(layout.hops)) {}

layer_input fused_model::input_of(int layer, node_type_id type) const {
  return layer == 0 ? inputs_->of(type)
                    : layer_input{layers_[layer].types[type].input};
}

void fused_model::make_inputs() {
  inputs_.emplace(step_);
  auto& types = layers_.front().types;
  types.resize(layout_.table_of.size());
  for (std::size_t t = 0; t < types.size(); ++t)
    types[t].input = inputs_->of(static_cast<node_type_id>(t)).rows;
}

/// Types share the parameters of jumping knowledge.
void fused_model::make_heads() {
  if (layout_.traits.averages_layers()) {
    means_.resize(layout_.table_of.size());
    for (const auto type : layout_.outputs)
      means_[type]
        .emplace(step_.output_rows(layout_.hops - 1, type),
                 layout_.output_width, layout_.hops, how_.pool)
        .add(layers_.front().types[type].input);
  }
  if (!layout_.jumps())
    return;
  heads_.resize(layout_.table_of.size());
  for (const auto type : layout_.outputs)
    heads_[type].emplace(jumping_head::setting{
      .weight = parameters_.at(layout_, layout_.jumping_weight),
      .bias = parameters_.at(layout_, layout_.jumping_bias).data,
      .seeds = step_.output_rows(layout_.hops - 1, type),
      .team = how_.team,
      .pool = how_.pool});
}

const_matrix fused_model::output_of(node_type_id type) {
  if (!means_.empty())
    return means_[type]->forward();
  return heads_.empty() ? layers_.back().types[type].output.view()
                        : heads_[type]->forward();
}

const_matrix fused_model::forward() {
  make_inputs();
  make_heads();
  for (int l = 0; l < layout_.hops; ++l) {
    begin_layer(l);
    for (std::size_t t = 0; t < layout_.table_of.size(); ++t)
      if (layout_.layers[l].types[t].out != 0)
        forward_type(l, static_cast<node_type_id>(t));
    for (std::size_t t = 0; t < heads_.size(); ++t)
      if (heads_[t])
        heads_[t]->add_layer(layers_[l].types[t].output.view());
    for (std::size_t t = 0; t < means_.size(); ++t)
      if (means_[t])
        means_[t]->add(layers_[l].types[t].output.view());
    if (l + 1 == layout_.hops)
      break;
    auto& next = layers_[l + 1].types;
    next.resize(layers_[l].types.size());
    for (std::size_t t = 0; t < next.size(); ++t)
      next[t].input = layers_[l].types[t].output.view();
    if (how_.training)
      continue; // Backward reads all that forward leaves.
    layers_[l].relations.clear();
    layers_[l].edge_terms.clear();
    layers_[l].transformer.reset();
    if (l > 0) // The output of layer l is read by the next one.
      layers_[l - 1] = {};
  }
  if (!layout_.decoder)
    return output_of(layout_.target);
  std::vector<const_matrix> outputs(layout_.table_of.size());
  for (const auto type : layout_.outputs)
    outputs[static_cast<std::size_t>(type)] = output_of(type);
  links_.emplace(
    link_head::setting{.layout = &layout_,
                       .parameters = &parameters_,
                       .rows = batch_.rows.get(),
                       .row_features = batch_.data.row_features.data(),
                       .team = how_.team,
                       .pool = how_.pool},
    outputs);
  return links_->forward();
}

const_matrix fused_model::last_input() {
  if (links_)
    return links_->ends();
  if (!heads_.empty())
    return heads_[layout_.target]->joined();
  const auto seeds = step_.output_rows(layout_.hops - 1, layout_.target);
  return layers_.back().types[layout_.target].input.slice(0, seeds);
}

void fused_model::begin_layer(int layer) {
  std::vector<layer_input> inputs;
  for (std::size_t t = 0; t < layout_.table_of.size(); ++t)
    inputs.push_back(input_of(layer, static_cast<node_type_id>(t)));
  auto& pass = layers_[layer];
  if (layout_.traits.attends_across())
    pass.transformer = messages_.make_transformer(layer, inputs);
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    pass.relations.push_back(messages_.make(layer, r, inputs));
    pass.edge_terms.push_back(messages_.make_edge_term(layer, r));
  }
}

void fused_model::forward_type(int layer, node_type_id type) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  const auto rows = step_.output_rows(layer, type);
  pass.output = {rows, shape.out, how_.pool};
  if (shape.inner != absent)
    pass.end.emplace(step_, layer, type);
  if (shape.norm_gain != absent) {
    pass.normalised = {rows, shape.out, how_.pool};
    pass.inverse_deviation.resize(static_cast<std::size_t>(rows));
  }
  how_.team->for_pieces(
    rows, chunk_rows,
    [this, layer, type](std::int64_t, std::int64_t begin, std::int64_t end) {
      forward_rows(layer, type, begin, end);
      finish_rows(layer, type, begin, end);
    });
}

void fused_model::forward_rows(int layer, node_type_id type, std::int64_t begin,
                               std::int64_t end) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  const auto rows =
    shape.norm_gain != absent ? pass.normalised.view() : pass.output.view();
  const auto y = (pass.end ? pass.end->sums() : rows).slice(begin, end);
  float beta = 0;
  if (auto& transformer = layers_[layer].transformer) {
    transformer->add_output(type, begin, end, y);
    beta = 1;
  }
  if (shape.self != absent) {
    input_of(layer, type)
      .multiply(begin, end, parameters_.at(layout_, shape.self), 0, y);
    beta = 1;
  }
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    auto& relation = layers_[layer].relations[r];
    if (!relation || layout_.relations[r].destination != type)
      continue;
    relation->add_output(begin, end, beta, y);
    beta = 1;
  }
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    auto& term = layers_[layer].edge_terms[r];
    if (!term || layout_.relations[r].destination != type)
      continue;
    term->add_output(begin, end, beta, y);
    beta = 1;
  }
  if (beta == 0)
    std::fill(y.data, y.data + y.size(), 0.0f);
  if (pass.end)
    pass.end->forward(input_of(layer, type), begin, end,
                      rows.slice(begin, end));
  if (shape.residual)
    add_rows(pass.input.slice(begin, end), rows.slice(begin, end));
}

/// Bias, norm, activation and dropout of rows that were just computed, while
/// they are in the cache. With a norm, the sums go to a matrix of their own and
/// the output is computed from them, for backward needs the normalised values.
void fused_model::finish_rows(int layer, node_type_id type, std::int64_t begin,
                              std::int64_t end) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  const auto out = pass.output.view();
  const auto* bias =
    shape.bias == absent ? nullptr : parameters_.at(layout_, shape.bias).data;
  auto drop = step_.dropout_of(layer + 1, type);
  if (layout_.layers[layer].last)
    drop.threshold = 0;
  if (shape.norm_gain != absent) {
    normalise({bias, parameters_.at(layout_, shape.norm_gain).data,
               parameters_.at(layout_, shape.norm_shift).data},
              begin, end, pass.normalised.view(), pass.inverse_deviation.data(),
              out);
    bias = nullptr;
  }
  activate(out, bias, layout_.layers[layer].after, drop, begin, end, out);
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
  messages_.backward(out);
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
    heads_[type]->backward(gradient,
                           step_.gradient_of(layout_.jumping_weight, out),
                           step_.gradient_of(layout_.jumping_bias, out).data);
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
    add_column_sums(gradient, 0, gradient.rows,
                    step_.gradient_of(bias, out).data);
}

/// The gradient of what the messages of a layer add up to, all rows.
const_matrix fused_model::sum_gradient(int layer, node_type_id type) const {
  const auto& pass = layers_[layer].types[type];
  return pass.end ? pass.end->gradient() : pass.gradient.view();
}

void fused_model::backward_weights(int layer, gradient_set& out) {
  const auto& shape = layout_.layers[layer];
  auto& pass = layers_[layer];
  for (std::size_t t = 0; t < shape.types.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    if (auto& of_type = pass.types[t]; of_type.end)
      of_type.end->backward(input_of(layer, type), of_type.gradient.view(),
                            out);
    if (shape.types[t].self == absent)
      continue;
    input_of(layer, type)
      .add_product_tn(*how_.team, sum_gradient(layer, type),
                      step_.gradient_of(shape.types[t].self, out), how_.pool);
  }
  if (pass.transformer)
    backward_transformer(layer, out);
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    if (!pass.relations[r])
      continue;
    const auto& relation = layout_.relations[r];
    message_pass::targets into;
    if (shape.weights[r] != absent)
      into.weight = step_.gradient_of(shape.weights[r], out);
    for (auto other = r; layout_.bases != 0 && other < layout_.relations.size();
         ++other)
      if (layout_.relations[other].source == relation.source
          && layout_.relations[other].destination == relation.destination)
        into.factors.push_back(
          step_.gradient_of(shape.factors[other], out).data);
    if (shape.epsilon != absent)
      into.epsilon = step_.gradient_of(shape.epsilon, out).data;
    if (shape.pool_weights[r] != absent) {
      into.pool_weight = step_.gradient_of(shape.pool_weights[r], out);
      into.pool_bias = step_.gradient_of(shape.pool_biases[r], out).data;
    }
    if (shape.source_scores[r] != absent) {
      into.attention_source =
        step_.gradient_of(shape.source_scores[r], out).data;
      into.destination_scores =
        step_.gradient_of(shape.destination_scores[r], out);
    }
    if (shape.attention_source != absent)
      into.attention_source =
        step_.gradient_of(shape.attention_source, out).data;
    if (shape.attention_destination != absent)
      into.attention_destination =
        step_.gradient_of(shape.attention_destination, out).data;
    if (shape.attention_weight != absent)
      into.attention_weight = step_.gradient_of(shape.attention_weight, out);
    if (shape.edge_weights[r] != absent)
      into.edge_weight = step_.gradient_of(shape.edge_weights[r], out);
    if (shape.edge_biases[r] != absent)
      into.edge_bias = step_.gradient_of(shape.edge_biases[r], out).data;
    if (shape.edge_scores[r] != absent)
      into.edge_scores = step_.gradient_of(shape.edge_scores[r], out).data;
    into.edge_columns = messages_.edge_columns(r);
    pass.relations[r]->backward(sum_gradient(layer, relation.destination),
                                layout_.needs_gradient(layer, relation.source),
                                into);
  }
  for (std::size_t r = 0; r < pass.edge_terms.size(); ++r)
    if (pass.edge_terms[r]) {
      message_pass::targets into;
      into.edge_weight = step_.gradient_of(shape.edge_weights[r], out);
      into.edge_columns = messages_.edge_columns(r);
      pass.edge_terms[r]->backward(
        sum_gradient(layer, layout_.relations[r].destination), false, into);
    }
}

void fused_model::backward_transformer(int layer, gradient_set& out) {
  const auto& shape = layout_.layers[layer];
  const auto place = [&](int parameter) {
    return parameter == absent ? matrix{} : step_.gradient_of(parameter, out);
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
                         place(shape.priors[r]).data,
                         place(shape.edge_weights[r]),
                         messages_.edge_columns(r)});
  layers_[layer].transformer->backward(gradients, types, relations);
}

/// @param layer As many as there are layers for what enters the head.
void fused_model::backward_input(int layer, node_type_id type,
                                 gradient_set& out) {
  const auto width = layer > 0 ? layout_.layers[layer - 1].types[type].out
                               : layout_.layers[layer].types[type].in;
  const auto rows = step_.input_rows(layer, type);
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
    add_pieces(sums, width, 0, stride, step_.gradient_of(shape.bias, out).data);
  if (shape.norm_gain == absent)
    return;
  add_pieces(sums, width, width, stride,
             step_.gradient_of(shape.norm_gain, out).data);
  add_pieces(sums, width, 2 * width, stride,
             step_.gradient_of(shape.norm_shift, out).data);
}

/// The gradient of rows that enter `layer`. Only the first rows enter the
/// product with W_self, so `filled` tells below which row there is something to
/// add to; the others are overwritten or set to zero, which saves a pass.
void fused_model::backward_rows(int layer, node_type_id type,
                                std::int64_t begin, std::int64_t end,
                                matrix gradient) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer];
  const auto self_rows =
    shape.self == absent ? 0 : step_.output_rows(layer, type);
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
  const auto added = std::clamp(step_.output_rows(layer, type), begin, end);
  if (pass.types[type].end && added > begin)
    pass.types[type].end->add_input_gradient(
      pass.types[type].gradient.view().slice(begin, added),
      gradient.slice(begin, added));
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
  const auto scale = step_.dropout_of(layer, type).scale();
  if (layer == 0) {
    if (step_.dropout_of(0, type).threshold != 0)
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
