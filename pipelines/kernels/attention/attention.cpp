#include "pipelines/kernels/attention/attention.hpp"

#include "pipelines/kernels/attention/attention_rows.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cstdint>

namespace graphmill {

namespace {

/// What edge e brings to its score, of its source and of its own.
GRAPHMILL_INLINE float edge_score(const attention& task, std::int64_t e,
                                  std::int64_t h) {
  const auto source = task.source_scores[task.columns[e] * task.heads + h];
  return task.edge_scores == nullptr
           ? source
           : source + task.edge_scores[e * task.heads + h];
}

/// Computes the softmax of one row and head. Scores lie in the place of the
/// weights until they are replaced by these.
GRAPHMILL_INLINE void soften(const attention& task, std::int64_t i,
                             std::int64_t h) {
  const auto heads = task.heads;
  const auto own = task.destination_scores[i * heads + h];
  const auto with_self = task.self_weights != nullptr;
  const auto self =
    with_self ? attention_rows::leaky(own + task.source_scores[i * heads + h])
              : attention_rows::no_score;
  auto largest = self;
  for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
    const auto score =
      attention_rows::leaky(own + edge_score(task, e, h)) + task.log_weight(e);
    task.weights[e * heads + h] = score;
    largest = std::max(largest, score);
  }
  attention_rows::soften_scores(task, i, h, self, largest);
}

} // namespace

GRAPHMILL_CLONES
void head_products(const_matrix z, const float* vector, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* out) {
  const auto width = z.columns / heads;
  for (auto i = begin; i < end; ++i)
    for (std::int64_t h = 0; h < heads; ++h)
      out[i * heads + h] = attention_rows::product(z.row(i) + h * width,
                                                   vector + h * width, width);
}

GRAPHMILL_CLONES
void attend(const attention& task, std::int64_t begin, std::int64_t end,
            matrix out) {
  for (auto i = begin; i < end; ++i) {
    for (std::int64_t h = 0; h < task.heads; ++h)
      soften(task, i, h);
    attention_rows::drop_weights(task, i);
    attention_rows::sum_row(task, i, out.row(i - begin));
    attention_rows::sum_features(task, i);
  }
}

GRAPHMILL_CLONES
void attend_backward(const attention& task, const_matrix gradient,
                     std::int64_t begin, std::int64_t end,
                     const score_gradients& out) {
  const auto heads = task.heads;
  for (auto i = begin; i < end; ++i)
    for (std::int64_t h = 0; h < heads; ++h) {
      attention_rows::unsoften(task, gradient.row(i), i, h, out);
      const auto at = i * heads + h;
      const auto own = task.destination_scores[at];
      const auto steepness = [own](float score) {
        return own + score > 0 ? 1.0f : attention_rows::slope;
      };
      auto sum = 0.0f;
      if (task.self_weights != nullptr) {
        out.self[at] *= steepness(task.source_scores[at]);
        sum = out.self[at];
      }
      for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
        auto& change = out.edges[e * heads + h];
        change *= steepness(edge_score(task, e, h));
        sum += change;
      }
      out.destinations[at] = sum;
    }
}

GRAPHMILL_CLONES
void attend_sources_backward(const attention& task,
                             const transposed_edges& back,
                             const score_gradients& scores,
                             const_matrix gradient, const float* source_vector,
                             const float* destination_vector,
                             std::int64_t begin, std::int64_t end,
                             float* source_gradient, matrix out) {
  const auto heads = task.heads;
  const auto width = task.z.columns / heads;
  for (auto j = begin; j < end; ++j) {
    auto* row = out.row(j);
    auto* sum = source_gradient + j * heads;
    std::fill(row, row + out.columns, 0.0f);
    std::fill(sum, sum + heads, 0.0f);
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      const auto e = back.positions[t];
      attention_rows::add_message_gradient(
        task, j, gradient.row(back.columns[t]), task.shares() + e * heads, row);
      for (std::int64_t h = 0; h < heads; ++h)
        sum[h] += scores.edges[e * heads + h];
    }
    if (task.self_weights != nullptr && j < task.rows) {
      attention_rows::add_message_gradient(task, j, gradient.row(j),
                                           task.self_shares() + j * heads, row);
      attention_rows::add_heads(
        destination_vector, scores.destinations + j * heads, heads, width, row);
      for (std::int64_t h = 0; h < heads; ++h)
        sum[h] += scores.self[j * heads + h];
    }
    attention_rows::add_heads(source_vector, sum, heads, width, row);
  }
}

GRAPHMILL_CLONES
void add_shares_of_rows(const std::int64_t* indptr, const float* scale,
                        std::int64_t heads, const_matrix x, std::int64_t first,
                        std::int64_t begin, std::int64_t end, matrix into) {
  const auto width = x.columns / heads;
  for (auto i = begin; i < end; ++i)
    for (auto e = indptr[i]; e < indptr[i + 1]; ++e) {
      auto* out = into.row(e);
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto share = scale[e * heads + h];
        const auto* from = x.row(i) + h * width + first;
        for (std::int64_t c = 0; c < into.columns; ++c)
          out[c] = simd::fused(share, from[c], out[c]);
      }
    }
}

GRAPHMILL_CLONES
void add_head_sums(const_matrix z, const float* scale, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* sums) {
  for (auto i = begin; i < end; ++i)
    attention_rows::add_heads(z.row(i), scale + i * heads, heads,
                              z.columns / heads, sums);
}

} // namespace graphmill
