#include "pipelines/kernels/attention/projected_attention.hpp"

#include "pipelines/kernels/attention/attention_rows.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

using projected_relation = projected_attention::relation;

/// What an edge has of a product: with a row of its source, and with its own
/// features.
/// @param row, of_features For row i of destinations: [heads, any] each.
GRAPHMILL_INLINE float edge_product(const projected_relation& from,
                                    std::int64_t heads, std::int64_t h,
                                    std::int64_t e, const_matrix sources,
                                    const float* row,
                                    const float* of_features) {
  const auto width = sources.columns / heads;
  const auto* source = sources.row(from.columns[e]) + h * width;
  if (from.features.data == nullptr)
    return attention_rows::product(row + h * width, source, width);
  const auto any = from.features.columns;
  return attention_rows::products(row + h * width, source, width,
                                  of_features + h * any, from.features.row(e),
                                  any);
}

/// Computes the softmax of row i and head h over all relations.
GRAPHMILL_INLINE void soften_across(const projected_attention& task,
                                    std::int64_t i, std::int64_t h) {
  const auto heads = task.heads;
  auto largest = attention_rows::no_score;
  for (const auto& from : task.relations) {
    for (auto e = from.indptr[i]; e < from.indptr[i + 1]; ++e) {
      const auto score =
        edge_product(from, heads, h, e, from.keys, from.queries.row(i),
                     from.edge_queries.row(i))
        + (from.log_weights == nullptr ? 0.0f : from.log_weights[e]);
      from.weights[e * heads + h] = score;
      largest = std::max(largest, score);
    }
  }
  largest = attention_rows::peak_of(largest);
  auto total = 0.0f;
  for (const auto& from : task.relations)
    for (auto e = from.indptr[i]; e < from.indptr[i + 1]; ++e) {
      auto& weight = from.weights[e * heads + h];
      weight = std::exp(weight - largest);
      total += weight;
    }
  const auto inverse = attention_rows::inverse_of(total);
  for (const auto& from : task.relations)
    for (auto e = from.indptr[i]; e < from.indptr[i + 1]; ++e)
      from.weights[e * heads + h] *= inverse;
}

/// The sum of row i over one relation, by its weights after dropout.
GRAPHMILL_INLINE void sum_across(const projected_relation& from,
                                 std::int64_t heads, std::int64_t i) {
  const auto begin = from.indptr[i];
  const auto end = from.indptr[i + 1];
  if (from.dropped_weights != nullptr)
    activate({from.weights, end, heads}, nullptr, activation::none, from.drop,
             begin, end, {from.dropped_weights, end, heads});
  auto* out = from.sums.row(i);
  std::fill(out, out + from.sums.columns, 0.0f);
  for (auto e = begin; e < end; ++e)
    attention_rows::add_heads(from.values.row(from.columns[e]),
                              from.shares() + e * heads, heads,
                              from.sums.columns / heads, out);
  if (from.features.data == nullptr)
    return;
  auto* sums = from.feature_sums.row(i);
  std::fill(sums, sums + from.feature_sums.columns, 0.0f);
  attention_rows::add_edge_rows(from.features, from.shares(), heads, begin, end,
                                sums);
}

/// Backward of the softmax of row i and head h, as `unsoften` has it.
GRAPHMILL_INLINE void
unsoften_across(const projected_attention& task, std::int64_t i, std::int64_t h,
                std::span<const projected_gradients> gradients) {
  const auto heads = task.heads;
  auto mean = 0.0f;
  for (std::size_t r = 0; r < task.relations.size(); ++r) {
    const auto& from = task.relations[r];
    const auto scale = from.drop.scale();
    for (auto e = from.indptr[i]; e < from.indptr[i + 1]; ++e) {
      const auto place = e * heads + h;
      auto& change = gradients[r].scores[place];
      change =
        edge_product(from, heads, h, e, from.values, gradients[r].sums.row(i),
                     gradients[r].feature_sums.row(i))
        * attention_rows::kept_share(from.dropped_weights, place, scale);
      mean = simd::fused(from.weights[place], change, mean);
    }
  }
  for (std::size_t r = 0; r < task.relations.size(); ++r) {
    const auto& from = task.relations[r];
    for (auto e = from.indptr[i]; e < from.indptr[i + 1]; ++e) {
      auto& change = gradients[r].scores[e * heads + h];
      change = from.weights[e * heads + h] * (change - mean);
    }
  }
}

} // namespace

GRAPHMILL_CLONES
void attend_across(const projected_attention& task, std::int64_t begin,
                   std::int64_t end) {
  for (auto i = begin; i < end; ++i) {
    for (std::int64_t h = 0; h < task.heads; ++h)
      soften_across(task, i, h);
    for (const auto& from : task.relations)
      sum_across(from, task.heads, i);
  }
}

GRAPHMILL_CLONES
void attend_across_backward(const projected_attention& task, std::int64_t begin,
                            std::int64_t end,
                            std::span<const projected_gradients> gradients) {
  const auto heads = task.heads;
  for (auto i = begin; i < end; ++i) {
    for (std::int64_t h = 0; h < heads; ++h)
      unsoften_across(task, i, h, gradients);
    for (std::size_t r = 0; r < task.relations.size(); ++r) {
      const auto& from = task.relations[r];
      const auto width = from.keys.columns;
      auto* query = gradients[r].queries.row(i);
      std::fill(query, query + width, 0.0f);
      for (auto e = from.indptr[i]; e < from.indptr[i + 1]; ++e)
        attention_rows::add_heads(from.keys.row(from.columns[e]),
                                  gradients[r].scores + e * heads, heads,
                                  width / heads, query);
      if (from.features.data == nullptr)
        continue;
      auto* of_edges = gradients[r].edge_queries.row(i);
      std::fill(of_edges, of_edges + gradients[r].edge_queries.columns, 0.0f);
      attention_rows::add_edge_rows(from.features, gradients[r].scores, heads,
                                    from.indptr[i], from.indptr[i + 1],
                                    of_edges);
    }
  }
}

GRAPHMILL_CLONES
void attend_across_sources_backward(
  const projected_attention::relation& relation, std::int64_t heads,
  const transposed_edges& back, const projected_gradients& gradients,
  std::int64_t begin, std::int64_t end, matrix keys, matrix values) {
  const auto width = keys.columns / heads;
  for (auto j = begin; j < end; ++j)
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      const auto i = back.columns[t];
      const auto at = back.positions[t] * heads;
      attention_rows::add_heads(relation.queries.row(i), gradients.scores + at,
                                heads, width, keys.row(j));
      attention_rows::add_heads(gradients.sums.row(i), relation.shares() + at,
                                heads, width, values.row(j));
    }
}

} // namespace graphmill
