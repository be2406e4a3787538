#include "pipelines/kernels/attention/joint_attention.hpp"

#include "pipelines/kernels/attention/attention_rows.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// No edge: the score of a node with itself.
constexpr std::int64_t no_edge = -1;

/// What one head scores row i and source row j by.
struct scored_columns {
  std::int64_t begin = 0, end = 0; ///< Columns of the head.
  const float* y = nullptr;        ///< Row i of the destinations.
  const float* z = nullptr;        ///< Row j of the sources.
  const float* edge = nullptr;     ///< What the edge brings, or null.

  GRAPHMILL_INLINE float sum(std::int64_t c) const {
    return edge == nullptr ? y[c] + z[c] : y[c] + z[c] + edge[c];
  }
};

/// @param e The edge from j to i, or `no_edge`.
GRAPHMILL_INLINE scored_columns columns_of(const joint_attention& task,
                                           std::int64_t i, std::int64_t j,
                                           std::int64_t e, std::int64_t h) {
  const auto& base = task.base;
  const auto width = base.z.columns / base.heads;
  const auto own = e != no_edge && base.edges.data != nullptr;
  return {h * width, (h + 1) * width, task.y.row(i), base.z.row(j),
          own ? base.edges.row(e) : nullptr};
}

/// The score of source row j for row i, in one head.
GRAPHMILL_INLINE float joint_score(const joint_attention& task, std::int64_t i,
                                   std::int64_t j, std::int64_t e,
                                   std::int64_t h) {
  const auto of = columns_of(task, i, j, e, h);
  float sum = 0;
  for (auto c = of.begin; c < of.end; ++c)
    sum = simd::fused(task.vector[c], attention_rows::leaky(of.sum(c)), sum);
  return sum;
}

/// into += what y[i], z[j] and the edge have of the gradient of their score.
GRAPHMILL_INLINE void add_joint_slopes(const joint_attention& task,
                                       std::int64_t i, std::int64_t j,
                                       std::int64_t e, std::int64_t h,
                                       float change, float* into) {
  const auto of = columns_of(task, i, j, e, h);
  for (auto c = of.begin; c < of.end; ++c) {
    const auto slope = of.sum(c) > 0 ? 1.0f : attention_rows::slope;
    into[c] = simd::fused(change * slope, task.vector[c], into[c]);
  }
}

/// sum += what the vector has of it.
GRAPHMILL_INLINE void add_joint_shapes(const joint_attention& task,
                                       std::int64_t i, std::int64_t j,
                                       std::int64_t e, std::int64_t h,
                                       float change, float* sum) {
  const auto of = columns_of(task, i, j, e, h);
  for (auto c = of.begin; c < of.end; ++c)
    sum[c] = simd::fused(change, attention_rows::leaky(of.sum(c)), sum[c]);
}

} // namespace

GRAPHMILL_CLONES
void attend_jointly(const joint_attention& task, std::int64_t begin,
                    std::int64_t end, matrix out) {
  const auto& base = task.base;
  for (auto i = begin; i < end; ++i) {
    for (std::int64_t h = 0; h < base.heads; ++h) {
      const auto self = joint_score(task, i, i, no_edge, h);
      auto largest = self;
      for (auto e = base.indptr[i]; e < base.indptr[i + 1]; ++e) {
        const auto score =
          joint_score(task, i, base.columns[e], e, h) + base.log_weight(e);
        base.weights[e * base.heads + h] = score;
        largest = std::max(largest, score);
      }
      attention_rows::soften_scores(base, i, h, self, largest);
    }
    attention_rows::drop_weights(base, i);
    attention_rows::sum_row(base, i, out.row(i - begin));
  }
}

GRAPHMILL_CLONES
void attend_jointly_backward(const joint_attention& task, const_matrix gradient,
                             std::int64_t begin, std::int64_t end,
                             const score_gradients& out, matrix y_gradient,
                             float* vector_sum) {
  const auto& base = task.base;
  for (auto i = begin; i < end; ++i) {
    auto* row = y_gradient.row(i);
    std::fill(row, row + y_gradient.columns, 0.0f);
    for (std::int64_t h = 0; h < base.heads; ++h) {
      attention_rows::unsoften(base, gradient.row(i), i, h, out);
      const auto self = out.self[i * base.heads + h];
      add_joint_slopes(task, i, i, no_edge, h, self, row);
      add_joint_shapes(task, i, i, no_edge, h, self, vector_sum);
      for (auto e = base.indptr[i]; e < base.indptr[i + 1]; ++e) {
        const auto change = out.edges[e * base.heads + h];
        add_joint_slopes(task, i, base.columns[e], e, h, change, row);
        add_joint_shapes(task, i, base.columns[e], e, h, change, vector_sum);
      }
    }
  }
}

GRAPHMILL_CLONES
void attend_jointly_sources_backward(const joint_attention& task,
                                     const transposed_edges& back,
                                     const score_gradients& scores,
                                     const_matrix gradient, std::int64_t begin,
                                     std::int64_t end, matrix out) {
  using attention_rows::add_message_gradient;
  const auto& base = task.base;
  const auto heads = base.heads;
  for (auto j = begin; j < end; ++j) {
    auto* row = out.row(j);
    std::fill(row, row + out.columns, 0.0f);
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      const auto i = back.columns[t];
      const auto e = back.positions[t];
      const auto at = e * heads;
      add_message_gradient(base, j, gradient.row(i), base.shares() + at, row);
      for (std::int64_t h = 0; h < heads; ++h)
        add_joint_slopes(task, i, j, e, h, scores.edges[at + h], row);
    }
    if (j >= base.rows)
      continue;
    add_message_gradient(base, j, gradient.row(j),
                         base.self_shares() + j * heads, row);
    for (std::int64_t h = 0; h < heads; ++h)
      add_joint_slopes(task, j, j, no_edge, h, scores.self[j * heads + h], row);
  }
}

GRAPHMILL_CLONES
void attend_jointly_edges_backward(const joint_attention& task,
                                   const score_gradients& scores,
                                   const_matrix gradient, std::int64_t begin,
                                   std::int64_t end, matrix edges) {
  const auto& base = task.base;
  const auto heads = base.heads;
  for (auto i = begin; i < end; ++i)
    for (auto e = base.indptr[i]; e < base.indptr[i + 1]; ++e) {
      auto* row = edges.row(e);
      const auto* upstream = gradient.row(i);
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto of = columns_of(task, i, base.columns[e], e, h);
        const auto share = base.shares()[e * heads + h];
        const auto change = scores.edges[e * heads + h];
        for (auto c = of.begin; c < of.end; ++c) {
          const auto slope = of.sum(c) > 0 ? 1.0f : attention_rows::slope;
          row[c] =
            simd::fused(share, upstream[c], change * slope * task.vector[c]);
        }
      }
    }
}

} // namespace graphmill
