#include "pipelines/model/layerwise/layer_piece.hpp"

#include "partition/files/page_requests.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/attention/joint_attention.hpp"
#include "pipelines/kernels/attention/projected_attention.hpp"
#include "pipelines/kernels/edge_relu.hpp"
#include "pipelines/kernels/edge_rows.hpp"
#include "pipelines/kernels/gather_max.hpp"
#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/kernels/layer_norm.hpp"
#include "pipelines/model/passes/attended_edges.hpp"
#include "pipelines/model/passes/attention_pass.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/head_maps.hpp"
#include "pipelines/model/passes/joint_edges.hpp"
#include "pipelines/model/passes/relation_pass.hpp"
#include "pipelines/model/passes/skip_gate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// Has the kernel read the rows that a piece is about to gather, all at once.
void ask_for_rows(const_matrix sources, const csr& edges) {
  page_requests pages;
  for (const auto j : edges.columns)
    pages.add(sources.row(j),
              static_cast<std::size_t>(sources.columns) * sizeof(float));
  pages.send();
}

std::int64_t rows_with_edges(const csr& edges) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i + 1 < edges.indptr.size(); ++i)
    out += edges.indptr[i] != edges.indptr[i + 1];
  return out;
}

} // namespace

result<owned_matrix> layer_piece::rows(std::int64_t begin,
                                       std::int64_t end) const {
  const auto& type = shape().types[static_cast<std::size_t>(set_.type)];
  const span piece{begin, end};
  std::optional<sparse_input> sparse;
  layer_input own{{nullptr, piece.count(), set_.input.columns}};
  if (set_.input.data != nullptr) {
    own.rows = set_.input.slice(begin, end);
  } else if (set_.input.columns != 0
             && (type.self != absent || set_.layout->traits.attends())) {
    GRAPHMILL_TRY(
      sparse, set_.graph->sparse_features(set_.type, begin, end, set_.rounded));
    own.sparse = &*sparse;
  }
  owned_matrix sums{piece.count(), type.sum, set_.pool};
  float beta = 0;
  if (type.self != absent) {
    own.multiply(0, piece.count(), at(type.self), 0, sums.view());
    beta = 1;
  }
  GRAPHMILL_TRYV(add_messages(own, piece, beta, sums.view()));
  return finish(std::move(sums), own);
}

/// y = beta y + the messages of all relations.
/// @param own The rows of the piece as they enter the layer.
result<void> layer_piece::add_messages(const layer_input& own, span piece,
                                       float beta, matrix y) const {
  if (set_.layout->traits.attends_across())
    return add_across(own, piece, y);
  if (set_.layout->traits.sums())
    return add_sums(piece, beta, y);
  for (const auto& from : set_.relations) {
    GRAPHMILL_TRY(const auto edges, edges_of(from, piece));
    GRAPHMILL_TRY(const auto features, features_of(from, piece));
    if (set_.layout->traits.attends())
      add_attention(from, edges, as_rows(from, features), own, piece, beta, y);
    else
      add_maximum(from, edges, beta, y);
    beta = 1;
  }
  if (beta == 0)
    std::fill(y.data, y.data + y.size(), 0.0f);
  return ok();
}

/// y = beta y + the sums of all relations.
result<void> layer_piece::add_sums(span piece, float beta, matrix y) const {
  if (set_.relations.empty() && beta == 0)
    std::fill(y.data, y.data + y.size(), 0.0f);
  std::vector<csr> edges;
  std::vector<pod_vector<float>> features;
  std::vector<relation_scales> scales;
  for (const auto& from : set_.relations) {
    GRAPHMILL_TRY(auto found, edges_of(from, piece));
    GRAPHMILL_TRY(auto rows, features_of(from, piece));
    features.push_back(std::move(rows));
    scales.push_back(scales_of(from, found, piece));
    edges.push_back(std::move(found));
  }
  if (set_.layout->combine == relation_use::mean) {
    std::vector<relation_scales*> all;
    for (auto& of : scales)
      all.push_back(&of);
    average_present(all);
  }
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const auto& from = set_.relations[k];
    const auto rows = as_rows(from, features[k]);
    if (set_.layout->adds_edges()) {
      add_edge_relu(from, edges[k], rows, piece, k == 0 ? beta : 1, y);
      continue;
    }
    add_sum(from, edges[k], scales[k], piece, k == 0 ? beta : 1, y);
    if (shape().edge_weights[from.number] != absent)
      add_edge_sum(from, edges[k], rows, scales[k], y);
  }
  return ok();
}

relation_scales layer_piece::scales_of(const relation& from, const csr& edges,
                                       span piece) const {
  const auto of_piece = [&piece](const auto& all) {
    return all.span().subspan(static_cast<std::size_t>(piece.begin),
                              static_cast<std::size_t>(piece.count()));
  };
  pod_vector<std::int32_t> degrees;
  pod_vector<float> in_weights;
  if (set_.degrees != nullptr)
    degrees.append(of_piece(*set_.degrees));
  if (set_.in_weights != nullptr)
    in_weights.append(of_piece(*set_.in_weights));
  auto scales = graphmill::scales_of(*set_.layout, from.number, edges,
                                     piece.count(), degrees, in_weights);
  if (shape().epsilon != absent) {
    scales.self.resize(static_cast<std::size_t>(piece.count()));
    std::fill(scales.self.begin(), scales.self.end(),
              1 + *at(shape().epsilon).data);
  }
  return scales;
}

/// The edges of a relation into the rows of a piece, by whose sources the disk
/// is asked ahead.
result<csr> layer_piece::edges_of(const relation& from, span piece) const {
  csr edges{pod_vector<std::int64_t>{set_.pool},
            pod_vector<local_id>{set_.pool}, pod_vector<float>{set_.pool}};
  GRAPHMILL_TRYV(set_.graph->neighbours(from.edge_types, piece.begin, piece.end,
                                        set_.level, set_.weights, edges));
  if (from.far) {
    ask_for_rows(from.sources, edges);
    if (from.keys.data != nullptr)
      ask_for_rows(from.keys, edges);
  }
  return edges;
}

result<pod_vector<float>> layer_piece::features_of(const relation& from,
                                                   span piece) const {
  pod_vector<float> values{set_.pool};
  if (set_.layout->relations[from.number].edge_width != 0)
    GRAPHMILL_TRYV(set_.graph->edge_features(from.edge_types, piece.begin,
                                             piece.end, set_.level,
                                             set_.rounded, values));
  return values;
}

const_matrix layer_piece::as_rows(const relation& from,
                                  const pod_vector<float>& features) const {
  const auto width = set_.layout->relations[from.number].edge_width;
  if (width == 0)
    return {};
  return {features.data(), std::ssize(features.span()) / width, width};
}

/// y += the scaled sums of the edges' features, times their weight matrix.
void layer_piece::add_edge_sum(const relation& from, const csr& edges,
                               const_matrix features,
                               const relation_scales& scales, matrix y) const {
  owned_matrix sums{y.rows, set_.layout->relations[from.number].edge_width,
                    set_.pool};
  run(edge_sum{.indptr = edges.indptr.data(),
               .columns = edges.columns.data(),
               .x = {features.data, features.rows, sums.view().columns},
               .row_scale = scales.row.data(),
               .column_scale = from.source_scales,
               .values = edges.weights_or_null()},
      0, y.rows, sums.view());
  multiply(sums.view(), at(shape().edge_weights[from.number]), 1, y);
}

/// As `edge_relu_pass` has it. The kernel numbers destinations as it numbers
/// sources, so it gets arrays that would begin at node 0.
void layer_piece::add_edge_relu(const relation& from, const csr& edges,
                                const_matrix features, span piece, float beta,
                                matrix y) const {
  const auto width = from.sources.columns;
  const auto& layer = shape();
  const auto weight =
    edge_relu_weight(at(layer.edge_weights[from.number]),
                     at(layer.edge_biases[from.number]).data, set_.pool);
  owned_matrix sums{piece.count(), width, set_.pool};
  run(edge_relu{.indptr = edges.indptr.data() - piece.begin,
                .columns = edges.columns.data(),
                .x = from.sources,
                .features = features,
                .weight = weight.view(),
                .values = edges.weights_or_null(),
                .self = 1 + *at(layer.epsilon).data},
      piece.begin, piece.end,
      {sums.data() - piece.begin * width, piece.end, width});
  multiply(sums.view(), at(layer.weights[from.number]), beta, y);
}

/// Sets y to the messages of all relations, which share their attention.
result<void> layer_piece::add_across(const layer_input& own, span piece,
                                     matrix y) const {
  const auto& layer = shape();
  const auto& type = layer.types[static_cast<std::size_t>(set_.type)];
  const auto count = piece.count();
  std::fill(y.data, y.data + y.size(), 0.0f);
  if (set_.relations.empty())
    return ok();
  owned_matrix queries{count, layer.inside, set_.pool};
  own.multiply(0, count, at(type.query), 0, queries.view());
  activate(queries.view(), at(type.query_bias).data, activation::none, {}, 0,
           count, queries.view());
  struct state {
    csr edges;
    owned_matrix queries, weights, sums;
    pod_vector<float> features, logs;
    owned_matrix to_features{}, edge_queries{}, feature_sums{};
  };
  std::vector<state> states; // Whose arrays `work` borrows.
  states.reserve(set_.relations.size());
  std::vector<projected_attention::relation> work;
  for (const auto& from : set_.relations) {
    GRAPHMILL_TRY(auto edges, edges_of(from, piece));
    GRAPHMILL_TRY(auto features, features_of(from, piece));
    const auto all = std::ssize(edges.columns.span());
    auto logs = logs_of_weights(edges, set_.pool);
    states.push_back({std::move(edges),
                      {count, layer.inside, set_.pool},
                      {all, layer.heads, set_.pool},
                      {count, layer.inside, set_.pool},
                      std::move(features),
                      std::move(logs)});
    auto& one = states.back();
    const auto map = query_map(at(layer.score_maps[from.number]),
                               at(layer.priors[from.number]).data, set_.pool);
    multiply(queries.view(), map.view(), 0, one.queries.view());
    const auto rows = as_rows(from, one.features);
    if (rows.data != nullptr) {
      one.to_features = feature_map(at(layer.edge_weights[from.number]),
                                    layer.heads, set_.pool);
      const auto columns = one.to_features.view().rows;
      one.edge_queries = {count, columns, set_.pool};
      multiply_nt(one.queries.view(), one.to_features.view(), 0,
                  one.edge_queries.view());
      one.feature_sums = {count, columns, set_.pool};
    }
    work.push_back({.indptr = one.edges.indptr.data(),
                    .columns = one.edges.columns.data(),
                    .keys = from.keys,
                    .values = from.sources,
                    .queries = one.queries.view(),
                    .weights = one.weights.data(),
                    .drop = {},
                    .sums = one.sums.view(),
                    .log_weights = one.logs.empty() ? nullptr : one.logs.data(),
                    .features = rows,
                    .edge_queries = one.edge_queries.view(),
                    .feature_sums = one.feature_sums.view()});
  }
  attend_across({work, count, layer.heads}, 0, count);
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (!states[k].to_features.empty())
      multiply(states[k].feature_sums.view(), states[k].to_features.view(), 1,
               states[k].sums.view());
    const auto map =
      message_map(at(layer.weights[set_.relations[k].number]), set_.pool);
    multiply(states[k].sums.view(), map.view(), 1, y);
  }
  return ok();
}

/// The scaled sum of the neighbours' rows, times the weight matrix. Where most
/// rows have no neighbours, those that have some are put together first; this
/// depends on the rows of the piece alone.
void layer_piece::add_sum(const relation& from, const csr& edges,
                          const relation_scales& scales, span piece, float beta,
                          matrix y) const {
  const auto count = piece.count();
  const auto with_self = !scales.self.empty();
  const auto kept = rows_with_edges(edges);
  if (!with_self && !from.transformed && 2 * kept < count)
    return add_some(from, edges, scales.row, kept, beta, y);
  owned_matrix sums{count, from.sources.columns, set_.pool};
  if (with_self)
    scale_rows(from.sources.slice(piece.begin, piece.end), scales.self.data(),
               0, count, sums.view());
  run(gather_sum{.indptr = edges.indptr.data(),
                 .columns = edges.columns.data(),
                 .x = from.sources,
                 .row_scale = scales.row.data(),
                 .column_scale = from.source_scales,
                 .values = edges.weights_or_null()},
      0, count, with_self ? count : 0, sums.view());
  if (!from.transformed)
    return multiply(sums.view(), at(shape().weights[from.number]), beta, y);
  if (beta == 0)
    std::fill(y.data, y.data + y.size(), 0.0f);
  add_rows(sums.view(), y);
}

/// `add_sum` for the rows alone that have edges; these may be none.
void layer_piece::add_some(const relation& from, const csr& edges,
                           const pod_vector<float>& scales, std::int64_t kept,
                           float beta, matrix y) const {
  if (beta == 0)
    std::fill(y.data, y.data + y.size(), 0.0f);
  std::vector<std::int64_t> which;
  std::vector<std::int64_t> indptr{0};
  std::vector<float> row_scale;
  for (std::int64_t i = 0; i < y.rows; ++i) {
    if (edges.indptr[i] == edges.indptr[i + 1])
      continue;
    which.push_back(i);
    indptr.push_back(edges.indptr[i + 1]);
    row_scale.push_back(scales[i]);
  }
  owned_matrix sums{kept, from.sources.columns, set_.pool};
  owned_matrix products{kept, y.columns, set_.pool};
  run(gather_sum{.indptr = indptr.data(),
                 .columns = edges.columns.data(),
                 .x = from.sources,
                 .row_scale = row_scale.data(),
                 .column_scale = from.source_scales,
                 .values = edges.weights_or_null()},
      0, kept, 0, sums.view());
  multiply(sums.view(), at(shape().weights[from.number]), 0, products.view());
  for (std::int64_t k = 0; k < kept; ++k)
    for (std::int64_t c = 0; c < y.columns; ++c)
      y.row(which[k])[c] += products.view().row(k)[c];
}

void layer_piece::add_maximum(const relation& from, const csr& edges,
                              float beta, matrix y) const {
  owned_matrix maxima{y.rows, from.sources.columns, set_.pool};
  pod_vector<local_id> winners{set_.pool};
  winners.resize(static_cast<std::size_t>(maxima.view().size()));
  run(gather_max{.indptr = edges.indptr.data(),
                 .columns = edges.columns.data(),
                 .x = from.sources},
      0, y.rows, maxima.view(), winners.data());
  multiply(maxima.view(), at(shape().weights[from.number]), beta, y);
}

/// The kernels number destinations as they number rows of z, so they get arrays
/// that would begin at node 0; only rows of this piece are touched.
void layer_piece::add_attention(const relation& from, const csr& edges,
                                const_matrix features, const layer_input& own,
                                span piece, float beta, matrix y) const {
  const auto& traits = set_.layout->traits;
  const auto& layer = shape();
  const auto heads = layer.heads;
  const auto count = piece.count();
  owned_matrix weights{std::ssize(edges.columns.span()), heads, set_.pool};
  owned_matrix self{traits.typed ? 0 : count, heads, set_.pool};
  owned_matrix scores{count, heads, set_.pool};
  owned_matrix joined{count, from.sources.columns, set_.pool};
  attention task{.indptr = edges.indptr.data() - piece.begin,
                 .columns = edges.columns.data(),
                 .rows = piece.end,
                 .z = from.sources,
                 .heads = heads,
                 .source_scores = from.source_scores.data,
                 .destination_scores = scores.data() - piece.begin * heads,
                 .weights = weights.data()};
  if (!traits.typed)
    task.self_weights = self.data() - piece.begin * heads;
  const auto logs = logs_of_weights(edges, set_.pool);
  if (!logs.empty())
    task.log_weights = logs.data();
  const auto brings =
    layer.edge_weights[from.number] != absent && !edges.columns.empty();
  if (layer.attention_weight != absent) {
    owned_matrix transformed{count, from.sources.columns, set_.pool};
    own.multiply(0, count, at(layer.attention_weight), 0, transformed.view());
    const const_matrix all{transformed.data()
                             - piece.begin * from.sources.columns,
                           piece.end, from.sources.columns};
    joint_attention work{task, all, at(layer.attention_source).data};
    if (brings)
      joint_edges{features, at(layer.edge_weights[from.number]), set_.pool}
        .for_rows(task.indptr, piece.begin, piece.end,
                  [&](std::int64_t first, std::int64_t last, matrix brought) {
                    work.base.edges = brought;
                    attend_jointly(work, first, last,
                                   joined.view().slice(first - piece.begin,
                                                       last - piece.begin));
                  });
    else
      attend_jointly(work, piece.begin, piece.end, joined.view());
  } else {
    if (traits.typed)
      own.multiply(0, count, at(layer.destination_scores[from.number]), 0,
                   scores.view());
    else
      head_products(from.sources.slice(piece.begin, piece.end),
                    at(layer.attention_destination).data, heads, 0, count,
                    scores.data());
    thread_team alone{1};
    std::optional<attended_edges> brought;
    if (brings) {
      brought.emplace(
        attended_edges::setting{features, at(layer.edge_weights[from.number]),
                                at(layer.edge_scores[from.number]), &alone,
                                set_.pool},
        count);
      brought->lend(task, piece.begin);
    }
    attend(task, piece.begin, piece.end, joined.view());
    if (brought)
      brought->add_output(0, count, joined.view());
  }
  const auto share = layer.last ? 1.0f / static_cast<float>(heads) : 1.0f;
  join_heads(joined.view(), share, beta, y);
}

/// The perceptron behind the sums, or the gate.
owned_matrix layer_piece::behind_sums(owned_matrix sums,
                                      const layer_input& own) const {
  const auto& type = shape().types[static_cast<std::size_t>(set_.type)];
  const auto count = own.rows.rows;
  if (type.inner == absent)
    return sums;
  if (type.gate != absent)
    gelu(sums.view(), 0, count, sums.view());
  else
    activate(sums.view(), at(type.inner_bias).data, activation::relu, {}, 0,
             count, sums.view());
  owned_matrix out{count, type.out, set_.pool};
  multiply(sums.view(), at(type.inner), 0, out.view());
  if (type.gate != absent)
    skip_gate{*at(type.gate).data}.blend(
      own, 0, count, type.skip == absent ? const_matrix{} : at(type.skip),
      out.view(), set_.pool);
  return out;
}

/// What comes behind the sums: perceptron or gate, the node's own row, bias,
/// norm and activation.
owned_matrix layer_piece::finish(owned_matrix sums,
                                 const layer_input& own) const {
  const auto& type = shape().types[static_cast<std::size_t>(set_.type)];
  const auto count = own.rows.rows;
  auto out = behind_sums(std::move(sums), own);
  if (type.residual)
    add_rows(own.rows, out.view());
  const auto* bias = at(type.bias).data;
  if (type.norm_gain != absent) {
    owned_matrix normed{count, type.out, set_.pool};
    pod_vector<float> deviations{set_.pool};
    deviations.resize(static_cast<std::size_t>(count));
    normalise({bias, at(type.norm_gain).data, at(type.norm_shift).data}, 0,
              count, out.view(), deviations.data(), normed.view());
    bias = nullptr;
    out = std::move(normed);
  }
  activate(out.view(), bias, shape().after, {}, 0, count, out.view());
  return out;
}

} // namespace graphmill
