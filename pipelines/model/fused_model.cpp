#include "pipelines/model/fused_model.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/layer_norm.hpp"
#include "pipelines/model/passes/attention_pass.hpp"
#include "pipelines/model/passes/basis_pass.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/maximum_pass.hpp"
#include "pipelines/model/passes/propagation_pass.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace graphmill {

fused_model::fused_model(const model_layout& layout,
                         const parameter_store& parameters,
                         const minibatch& batch, options how)
  : layout_(layout), parameters_(parameters), batch_(batch),
    how_(std::move(how)), inputs_(layout.table_of.size()),
    sparse_(layout.table_of.size()), input_gradients_(layout.table_of.size()),
    layers_(static_cast<std::size_t>(layout.hops)) {
  make_scales();
}

std::int64_t fused_model::input_rows(int layer, node_type_id type) const {
  return batch_.data.graph.nodes[type].found[layout_.hops - layer];
}

std::int64_t fused_model::output_rows(int layer, node_type_id type) const {
  return batch_.data.graph.nodes[type].found[layout_.hops - layer - 1];
}

dropout fused_model::dropout_of(int layer, node_type_id type) const {
  const auto off =
    !how_.training
    || (layer == 0 ? !layout_.traits.drop_input : layout_.traits.looks_up);
  return {.key = how_.key,
          .stream = stream_of(layer, type, batch_.data.key.rank),
          .threshold = off ? 0 : layout_.drop_threshold};
}

float fused_model::dropout_scale(int layer, node_type_id type) const {
  return dropout_of(layer, type).scale();
}

void fused_model::make_scales() {
  if (layout_.traits.sums())
    scales_ = scales_of(layout_, batch_);
}

void fused_model::make_inputs() {
  const auto& first = layout_.layers.front();
  layers_.front().types.resize(first.types.size());
  for (std::size_t t = 0; t < first.types.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    const auto width = first.types[t].in;
    if (width == 0)
      continue;
    const auto rows = input_rows(0, type);
    const auto table = layout_.table_of[t];
    const_matrix input{batch_.data.features[t].data(), rows, width};
    const auto packed = layout_.feature_rows[t].packed();
    const auto drop = dropout_of(0, type);
    if (layout_.multiplies_packed(type)) {
      sparse_[t].emplace(input.data, rows, layout_.feature_rows[t], drop);
      layers_.front().types[t].input = {nullptr, rows, width};
      continue;
    }
    if (table != absent || packed || drop.threshold != 0)
      inputs_[t] = {rows, width, how_.pool};
    if (packed)
      input = unpack_input(type, rows);
    if (table != absent) {
      const auto* values = parameters_.tables[table].data();
      for (std::int64_t i = 0; i < rows; ++i)
        std::memcpy(inputs_[t].view().row(i),
                    values + batch_.data.embedding_rows[t][i] * width,
                    static_cast<std::size_t>(width) * sizeof(float));
      input = inputs_[t].view();
    }
    if (drop.threshold != 0) {
      auto out = inputs_[t].view();
      how_.team->for_pieces(
        rows, chunk_rows,
        [&](std::int64_t, std::int64_t from, std::int64_t to) {
          activate(input, nullptr, activation::none, drop, from, to, out);
        });
      input = out;
    }
    layers_.front().types[t].input = input;
  }
}

layer_input fused_model::input_of(int layer, node_type_id type) const {
  return {layers_[layer].types[type].input,
          layer == 0 && sparse_[type] ? &*sparse_[type] : nullptr};
}

/// Rows with all their zeros, so that all that is computed of them is that of
/// dense features, with the same bits.
const_matrix fused_model::unpack_input(node_type_id type, std::int64_t rows) {
  const auto& form = layout_.feature_rows[type];
  const auto* from = batch_.data.features[type].data();
  const auto out = inputs_[type].view();
  how_.team->for_pieces(
    rows, chunk_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i)
        unpack(from + static_cast<std::size_t>(i) * form.floats(), form,
               out.row(i));
    });
  return out;
}

/// Types share the parameters of jumping knowledge.
void fused_model::make_heads() {
  if (layout_.traits.averages_layers()) {
    means_.resize(layout_.table_of.size());
    for (const auto type : layout_.outputs)
      means_[type]
        .emplace(output_rows(layout_.hops - 1, type), layout_.output_width,
                 layout_.hops, how_.pool)
        .add(layers_.front().types[type].input);
  }
  if (!layout_.jumps())
    return;
  heads_.resize(layout_.table_of.size());
  for (const auto type : layout_.outputs)
    heads_[type].emplace(jumping_head::setting{
      .weight = parameters_.at(layout_, layout_.jumping_weight),
      .bias = parameters_.at(layout_, layout_.jumping_bias).data,
      .seeds = output_rows(layout_.hops - 1, type),
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
    layers_[l].transformer.reset();
    if (l > 0) // The output of layer l is read by the next one.
      layers_[l - 1] = {};
  }
  if (!layout_.decoder)
    return output_of(layout_.target);
  std::vector<const_matrix> outputs(layout_.table_of.size());
  for (const auto type : layout_.outputs)
    outputs[static_cast<std::size_t>(type)] = output_of(type);
  links_.emplace(link_head::setting{.layout = &layout_,
                                    .parameters = &parameters_,
                                    .rows = batch_.rows.get(),
                                    .team = how_.team,
                                    .pool = how_.pool},
                 outputs);
  return links_->forward();
}

const_matrix fused_model::last_input() const {
  if (layout_.decoder)
    return {};
  if (!heads_.empty())
    return heads_[layout_.target]->joined();
  const auto seeds = output_rows(layout_.hops - 1, layout_.target);
  return layers_.back().types[layout_.target].input.slice(0, seeds);
}

void fused_model::begin_layer(int layer) {
  if (layout_.traits.attends_across())
    layers_[layer].transformer = make_transformer(layer);
  auto& relations = layers_[layer].relations;
  for (std::size_t r = 0; r < layout_.relations.size(); ++r)
    relations.push_back(layout_.carries(layer, r)
                            && !layout_.traits.attends_across()
                          ? make_pass(layer, r)
                          : nullptr);
}

/// Whether a relation stands for all between its node types: the first one.
bool fused_model::leads_bases(std::size_t relation) const {
  const auto& ends = layout_.relations[relation];
  const auto first = std::find_if(
    layout_.relations.begin(), layout_.relations.end(),
    [&ends](const relation_info& one) {
      return one.source == ends.source && one.destination == ends.destination;
    });
  return &*first == &ends;
}

std::unique_ptr<message_pass>
fused_model::make_basis_pass(int layer, std::size_t relation) {
  const auto& ends = layout_.relations[relation];
  const auto& shape = layout_.layers[layer];
  basis_pass::setting how;
  how.rows = output_rows(layer, ends.destination);
  how.input = input_of(layer, ends.source);
  how.weight = parameters_.at(layout_, shape.weights[relation]);
  how.team = how_.team;
  how.pool = how_.pool;
  how.bases = layout_.bases;
  for (auto r = relation; r < layout_.relations.size(); ++r) {
    const auto& other = layout_.relations[r];
    if (other.source != ends.source || other.destination != ends.destination)
      continue;
    const auto& edges = batch_.relations[r];
    const auto back = how_.training && layer < int(edges.transposed.size())
                      && !edges.transposed[layer].indptr.empty();
    how.relations.push_back(
      {&edges.forward, back ? &edges.transposed[layer] : nullptr, &scales_[r],
       parameters_.at(layout_, shape.factors[r]).data});
  }
  return std::make_unique<basis_pass>(std::move(how));
}

std::unique_ptr<message_pass> fused_model::make_pass(int layer,
                                                     std::size_t relation) {
  if (layout_.bases != 0)
    return leads_bases(relation) ? make_basis_pass(layer, relation) : nullptr;
  const auto& ends = layout_.relations[relation];
  const auto& shape = layout_.layers[layer];
  const auto& edges = batch_.relations[relation];
  const auto back = how_.training && layer < int(edges.transposed.size())
                    && !edges.transposed[layer].indptr.empty();
  const message_pass::setting common{
    .forward = &edges.forward,
    .transposed = back ? &edges.transposed[layer] : nullptr,
    .rows = output_rows(layer, ends.destination),
    .input = input_of(layer, ends.source),
    .weight = values_of(shape.weights[relation]),
    .team = how_.team,
    .pool = how_.pool};
  if (layout_.traits.averages_layers())
    return std::make_unique<propagation_pass>(common, scales_[relation]);
  if (layout_.traits.message == message_form::maximum) {
    maximum_pass::setting how{common};
    if (layout_.traits.pools) {
      how.pool_weight = parameters_.at(layout_, shape.pool_weights[relation]);
      how.pool_bias = parameters_.at(layout_, shape.pool_biases[relation]).data;
    }
    return std::make_unique<maximum_pass>(how);
  }
  if (layout_.traits.sums())
    return std::make_unique<relation_pass>(relation_pass::setting{
      common, &scales_[relation],
      shape.epsilon == absent ? nullptr
                              : parameters_.at(layout_, shape.epsilon).data});
  return make_attention(layer, relation, common);
}

std::unique_ptr<message_pass>
fused_model::make_attention(int layer, std::size_t relation,
                            const message_pass::setting& common) {
  const auto& shape = layout_.layers[layer];
  const auto of = [this](int parameter) { return values_of(parameter); };
  const auto rank = batch_.data.key.rank;
  const auto threshold = how_.training ? layout_.attention_threshold : 0;
  attention_pass::setting how{common};
  how.drop =
    edge_dropout(how_.key, layer, static_cast<int>(relation), rank, threshold);
  how.drop_self = {how_.key, self_stream_of(layer, rank), threshold};
  how.drop_messages = {how_.key, message_stream_of(layer, rank),
                       how_.training ? layout_.message_threshold : 0};
  how.average = shape.last;
  if (layout_.traits.attends_by_relation()) {
    const auto& ends = layout_.relations[relation];
    how.source = of(shape.source_scores[relation]);
    how.destination = of(shape.destination_scores[relation]);
    how.own = input_of(layer, ends.destination);
  } else {
    how.source = of(shape.attention_source);
    how.destination = of(shape.attention_destination);
    how.destination_weight = of(shape.attention_weight);
  }
  return std::make_unique<attention_pass>(how);
}

void fused_model::forward_type(int layer, node_type_id type) {
  const auto& shape = layout_.layers[layer].types[type];
  auto& pass = layers_[layer].types[type];
  const auto rows = output_rows(layer, type);
  pass.output = {rows, shape.out, how_.pool};
  if (shape.inner != absent)
    pass.inner = {rows, shape.sum, how_.pool};
  if (shape.gate != absent)
    pass.sums = {rows, shape.sum, how_.pool};
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
  const auto sums = shape.gate != absent    ? pass.sums.view()
                    : shape.inner != absent ? pass.inner.view()
                                            : rows;
  const auto y = sums.slice(begin, end);
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
  if (beta == 0)
    std::fill(y.data, y.data + y.size(), 0.0f);
  if (shape.gate != absent) {
    forward_gated(layer, type, begin, end, rows.slice(begin, end));
  } else if (shape.inner != absent) {
    activate(sums, parameters_.at(layout_, shape.inner_bias).data,
             activation::relu, {}, begin, end, sums);
    multiply(y, parameters_.at(layout_, shape.inner), 0,
             rows.slice(begin, end));
  }
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
  auto drop = dropout_of(layer + 1, type);
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

} // namespace graphmill
