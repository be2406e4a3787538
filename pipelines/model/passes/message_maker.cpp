#include "pipelines/model/passes/message_maker.hpp"

#include "pipelines/model/passes/attention_pass.hpp"
#include "pipelines/model/passes/basis_pass.hpp"
#include "pipelines/model/passes/edge_relu_pass.hpp"
#include "pipelines/model/passes/edge_sum_pass.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/maximum_pass.hpp"
#include "pipelines/model/passes/propagation_pass.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

message_maker::message_maker(const step_context& step)
  : step_(step), edges_(step) {
  if (step_.layout.traits.attends())
    for (const auto& relation : step_.batch.relations)
      log_weights_.push_back(logs_of_weights(relation.forward, step_.pool));
  if (!step_.layout.traits.sums())
    return;
  scales_ = scales_of(step_.layout, step_.batch);
  if (!step_.layout.traits.adds_edges_to_rows())
    sum_edges();
}

void message_maker::sum_edges() {
  const auto& layout = step_.layout;
  edge_sums_.resize(layout.relations.size());
  edge_sum_gradients_.resize(layout.relations.size());
  for (std::size_t r = 0; r < layout.relations.size(); ++r) {
    const auto& relation = layout.relations[r];
    if (relation.edge_width == 0)
      continue;
    const auto rows = step_.output_rows(0, relation.destination);
    auto& sums = edge_sums_[r];
    sums = {rows, relation.edge_width, step_.pool};
    const auto task = sum_of(r);
    step_.team->for_pieces(
      rows, chunk_rows,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        run(task, begin, end, sums.view());
      });
  }
}

edge_sum message_maker::sum_of(std::size_t relation) const {
  const auto& edges = step_.batch.relations[relation].forward;
  const auto& scales = scales_[relation];
  return {.indptr = edges.indptr.data(),
          .columns = edges.columns.data(),
          .x = edges_.of(relation),
          .row_scale = scales.row.data(),
          .column_scale =
            scales.column.empty() ? nullptr : scales.column.data(),
          .values = edges.weights_or_null()};
}

matrix message_maker::edge_columns(std::size_t relation) {
  if (edge_sums_.empty())
    return edges_.gradient(relation);
  const auto width = edges_.gradient(relation).columns;
  auto& out = edge_sum_gradients_[relation];
  if (width != 0 && out.view().columns == 0) {
    out = {edge_sums_[relation].view().rows, width, step_.pool};
    std::fill_n(out.data(), out.view().size(), 0.0f);
  }
  return out.view();
}

void message_maker::backward(gradient_set& out) {
  for (std::size_t r = 0; r < edge_sum_gradients_.size(); ++r) {
    const auto sums = edge_sum_gradients_[r].view();
    if (sums.rows == 0 || sums.columns == 0)
      continue;
    const auto task = sum_of(r);
    const auto into = edges_.gradient(r);
    step_.team->for_pieces(
      sums.rows, chunk_rows,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        edge_sum_backward(task, sums, begin, end, into);
      });
  }
  edges_.backward(out);
}

const csr* message_maker::transposed_of(int layer, std::size_t relation) const {
  const auto& all = step_.batch.relations[relation].transposed;
  const auto back = step_.training && layer < static_cast<int>(all.size())
                    && !all[layer].indptr.empty();
  return back ? &all[layer] : nullptr;
}

/// Whether a relation stands for all between its node types: the first one.
bool message_maker::leads_bases(std::size_t relation) const {
  const auto& all = step_.layout.relations;
  const auto& ends = all[relation];
  const auto first =
    std::find_if(all.begin(), all.end(), [&ends](const relation_info& one) {
      return one.source == ends.source && one.destination == ends.destination;
    });
  return &*first == &ends;
}

std::unique_ptr<message_pass>
message_maker::make_basis_pass(int layer, std::size_t relation,
                               std::span<const layer_input> inputs) const {
  const auto& layout = step_.layout;
  const auto& ends = layout.relations[relation];
  const auto& shape = layout.layers[layer];
  basis_pass::setting how;
  how.rows = step_.output_rows(layer, ends.destination);
  how.input = inputs[static_cast<std::size_t>(ends.source)];
  how.weight = step_.parameters.at(layout, shape.weights[relation]);
  how.team = step_.team;
  how.pool = step_.pool;
  how.bases = layout.bases;
  for (auto r = relation; r < layout.relations.size(); ++r) {
    const auto& other = layout.relations[r];
    if (other.source != ends.source || other.destination != ends.destination)
      continue;
    how.relations.push_back(
      {&step_.batch.relations[r].forward, transposed_of(layer, r), &scales_[r],
       step_.parameters.at(layout, shape.factors[r]).data});
  }
  return std::make_unique<basis_pass>(std::move(how));
}

std::unique_ptr<message_pass>
message_maker::make(int layer, std::size_t relation,
                    std::span<const layer_input> inputs) const {
  const auto& layout = step_.layout;
  const auto& traits = layout.traits;
  if (!layout.carries(layer, relation) || traits.attends_across())
    return nullptr;
  if (layout.bases != 0)
    return leads_bases(relation) ? make_basis_pass(layer, relation, inputs)
                                 : nullptr;
  const auto& ends = layout.relations[relation];
  const auto& shape = layout.layers[layer];
  const message_pass::setting common{
    .forward = &step_.batch.relations[relation].forward,
    .transposed = transposed_of(layer, relation),
    .rows = step_.output_rows(layer, ends.destination),
    .input = inputs[static_cast<std::size_t>(ends.source)],
    .weight = step_.values_of(shape.weights[relation]),
    .team = step_.team,
    .pool = step_.pool};
  if (traits.averages_layers())
    return std::make_unique<propagation_pass>(common, scales_[relation]);
  if (traits.message == message_form::maximum) {
    maximum_pass::setting how{common};
    if (traits.pools) {
      how.pool_weight = step_.values_of(shape.pool_weights[relation]);
      how.pool_bias = step_.values_of(shape.pool_biases[relation]).data;
    }
    return std::make_unique<maximum_pass>(how);
  }
  if (!traits.sums())
    return make_attention(layer, relation, inputs, common);
  if (shape.edge_biases[relation] != absent)
    return make_edge_relu(layer, relation, common);
  return std::make_unique<relation_pass>(relation_pass::setting{
    common, &scales_[relation], step_.values_of(shape.epsilon).data});
}

std::unique_ptr<message_pass>
message_maker::make_edge_term(int layer, std::size_t relation) const {
  const auto& layout = step_.layout;
  const auto weight = layout.layers[layer].edge_weights[relation];
  if (weight == absent || edge_sums_.empty())
    return nullptr;
  message_pass::setting how;
  how.rows = step_.output_rows(layer, layout.relations[relation].destination);
  how.weight = step_.values_of(weight);
  how.team = step_.team;
  how.pool = step_.pool;
  return std::make_unique<edge_sum_pass>(how, edge_sums_[relation].view());
}

std::unique_ptr<message_pass>
message_maker::make_edge_relu(int layer, std::size_t relation,
                              const message_pass::setting& common) const {
  const auto& shape = step_.layout.layers[layer];
  edge_relu_pass::setting how{common};
  how.features = edges_.of(relation);
  how.edge_weight = step_.values_of(shape.edge_weights[relation]);
  how.edge_bias = step_.values_of(shape.edge_biases[relation]).data;
  how.epsilon = step_.values_of(shape.epsilon).data;
  how.training = step_.training;
  return std::make_unique<edge_relu_pass>(how);
}

std::unique_ptr<message_pass>
message_maker::make_attention(int layer, std::size_t relation,
                              std::span<const layer_input> inputs,
                              const message_pass::setting& common) const {
  const auto& layout = step_.layout;
  const auto& shape = layout.layers[layer];
  const auto rank = step_.batch.data.key.rank;
  const auto threshold = step_.training ? layout.attention_threshold : 0;
  attention_pass::setting how{common};
  how.drop =
    edge_dropout(step_.key, layer, static_cast<int>(relation), rank, threshold);
  how.drop_self = {step_.key, self_stream_of(layer, rank), threshold};
  how.drop_messages = {step_.key, message_stream_of(layer, rank),
                       step_.training ? layout.message_threshold : 0};
  how.average = shape.last;
  how.log_weights = log_weights_of(relation);
  if (shape.edge_weights[relation] != absent) {
    how.edge_features = edges_.of(relation);
    how.edge_weight = step_.values_of(shape.edge_weights[relation]);
    how.edge_scores = step_.values_of(shape.edge_scores[relation]);
  }
  if (layout.traits.attends_by_relation()) {
    const auto& ends = layout.relations[relation];
    how.source = step_.values_of(shape.source_scores[relation]);
    how.destination = step_.values_of(shape.destination_scores[relation]);
    how.own = inputs[static_cast<std::size_t>(ends.destination)];
  } else {
    how.source = step_.values_of(shape.attention_source);
    how.destination = step_.values_of(shape.attention_destination);
    how.destination_weight = step_.values_of(shape.attention_weight);
  }
  return std::make_unique<attention_pass>(how);
}

std::unique_ptr<transformer_layer>
message_maker::make_transformer(int layer,
                                std::span<const layer_input> inputs) const {
  const auto& layout = step_.layout;
  const auto& shape = layout.layers[layer];
  transformer_layer::setting how{.types = {},
                                 .relations = {},
                                 .heads = shape.heads,
                                 .width = shape.inside,
                                 .team = step_.team,
                                 .pool = step_.pool};
  for (std::size_t t = 0; t < shape.types.size(); ++t) {
    const auto& type = shape.types[t];
    how.types.push_back(
      {.input = inputs[t],
       .rows = step_.output_rows(layer, static_cast<node_type_id>(t)),
       .key = step_.values_of(type.key),
       .value = step_.values_of(type.value),
       .value_bias = step_.values_of(type.value_bias).data,
       .query = step_.values_of(type.query),
       .query_bias = step_.values_of(type.query_bias).data});
  }
  for (std::size_t r = 0; r < layout.relations.size(); ++r) {
    auto& relation = how.relations.emplace_back();
    relation.source = layout.relations[r].source;
    relation.destination = layout.relations[r].destination;
    if (shape.weights[r] == absent)
      continue;
    const auto& edges = step_.batch.relations[r];
    relation.forward = &edges.forward;
    if (step_.training)
      relation.transposed = &edges.transposed[layer];
    relation.message = step_.values_of(shape.weights[r]);
    relation.attention = step_.values_of(shape.score_maps[r]);
    relation.prior = step_.values_of(shape.priors[r]).data;
    relation.log_weights = log_weights_of(r);
    relation.drop = edge_dropout(
      step_.key, layer, static_cast<int>(r), step_.batch.data.key.rank,
      step_.training ? layout.attention_threshold : 0);
    if (shape.edge_weights[r] != absent) {
      relation.features = edges_.of(r);
      relation.edge_weight = step_.values_of(shape.edge_weights[r]);
    }
  }
  return std::make_unique<transformer_layer>(std::move(how));
}

} // namespace graphmill
