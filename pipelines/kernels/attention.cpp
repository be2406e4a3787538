#include "pipelines/kernels/attention.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// Of LeakyReLU below 0, as in the paper.
constexpr float slope = 0.2f;

GRAPHMILL_INLINE float leaky(float x) {
  return x > 0 ? x : slope * x;
}

/// into += scale[h] * x within each head h.
GRAPHMILL_INLINE void add_heads(const float* x, const float* scale,
                                std::int64_t heads, std::int64_t width,
                                float* into) {
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t c = h * width; c < (h + 1) * width; ++c)
      into[c] = simd::fused(scale[h], x[c], into[c]);
}

GRAPHMILL_INLINE float product(const float* a, const float* b,
                               std::int64_t count) {
  // Sixteen partial sums in a fixed order, so that vectors may be used.
  float partial[simd::width] = {};
  std::int64_t c = 0;
  for (; c + simd::width <= count; c += simd::width)
    for (int i = 0; i < simd::width; ++i)
      partial[i] = simd::fused(a[c + i], b[c + i], partial[i]);
  float sum = 0;
  for (auto part : partial)
    sum += part;
  // Where products are fused is part of what a digest of weights stands for:
  // whole fours of the rest are not, as compilers have had it for long.
  for (; c + 4 <= count; c += 4)
    for (int i = 0; i < 4; ++i)
      sum += a[c + i] * b[c + i];
  for (; c < count; ++c)
    sum = simd::fused(a[c], b[c], sum);
  return sum;
}

/// Computes the softmax of one row and head. The largest score is taken off all
/// of them first, which changes nothing but keeps exp from growing to infinity.
/// Scores lie in the place of the weights until they are replaced by these.
GRAPHMILL_INLINE void soften(const attention& task, std::int64_t i,
                             std::int64_t h) {
  const auto heads = task.heads;
  const auto from = task.indptr[i];
  const auto to = task.indptr[i + 1];
  const auto own = task.destination_scores[i * heads + h];
  const auto with_self = task.self_weights != nullptr;
  if (from == to && !with_self)
    return;
  const auto self =
    with_self ? leaky(own + task.source_scores[i * heads + h])
              : leaky(own + task.source_scores[task.columns[from] * heads + h]);
  auto largest = self;
  for (auto e = from; e < to; ++e) {
    const auto score =
      leaky(own + task.source_scores[task.columns[e] * heads + h]);
    task.weights[e * heads + h] = score;
    largest = std::max(largest, score);
  }
  const auto self_power = with_self ? std::exp(self - largest) : 0.0f;
  auto total = self_power;
  for (auto e = from; e < to; ++e) {
    auto& weight = task.weights[e * heads + h];
    weight = std::exp(weight - largest);
    total += weight;
  }
  const auto inverse = 1 / total;
  for (auto e = from; e < to; ++e)
    task.weights[e * heads + h] *= inverse;
  if (with_self)
    task.self_weights[i * heads + h] = self_power * inverse;
}

} // namespace

GRAPHMILL_CLONES
void head_products(const_matrix z, const float* vector, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* out) {
  const auto width = z.columns / heads;
  for (auto i = begin; i < end; ++i)
    for (std::int64_t h = 0; h < heads; ++h)
      out[i * heads + h] =
        product(z.row(i) + h * width, vector + h * width, width);
}

GRAPHMILL_CLONES
void attend(const attention& task, std::int64_t begin, std::int64_t end,
            matrix out) {
  const auto heads = task.heads;
  const auto width = task.z.columns / heads;
  for (auto i = begin; i < end; ++i) {
    for (std::int64_t h = 0; h < heads; ++h)
      soften(task, i, h);
    auto* row = out.row(i - begin);
    std::fill(row, row + out.columns, 0.0f);
    if (task.self_weights != nullptr)
      add_heads(task.z.row(i), task.self_weights + i * heads, heads, width,
                row);
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e)
      add_heads(task.z.row(task.columns[e]), task.weights + e * heads, heads,
                width, row);
  }
}

GRAPHMILL_CLONES
void attend_backward(const attention& task, const_matrix gradient,
                     std::int64_t begin, std::int64_t end,
                     const score_gradients& out) {
  const auto heads = task.heads;
  const auto width = task.z.columns / heads;
  for (auto i = begin; i < end; ++i)
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto* g = gradient.row(i) + h * width;
      const auto at = i * heads + h;
      const auto own = task.destination_scores[at];
      const auto with_self = task.self_weights != nullptr;
      const auto self_weight = with_self ? task.self_weights[at] : 0.0f;
      const auto self =
        with_self ? product(g, task.z.row(i) + h * width, width) : 0.0f;
      auto mean = self_weight * self;
      for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
        const auto change =
          product(g, task.z.row(task.columns[e]) + h * width, width);
        out.edges[e * heads + h] = change;
        mean = simd::fused(task.weights[e * heads + h], change, mean);
      }
      const auto steepness = [own](float score) {
        return own + score > 0 ? 1.0f : slope;
      };
      auto sum = 0.0f;
      if (with_self) {
        out.self[at] =
          self_weight * (self - mean) * steepness(task.source_scores[at]);
        sum = out.self[at];
      }
      for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
        auto& change = out.edges[e * heads + h];
        change = task.weights[e * heads + h] * (change - mean)
                 * steepness(task.source_scores[task.columns[e] * heads + h]);
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
      add_heads(gradient.row(back.columns[t]), task.weights + e * heads, heads,
                width, row);
      for (std::int64_t h = 0; h < heads; ++h)
        sum[h] += scores.edges[e * heads + h];
    }
    if (task.self_weights != nullptr && j < task.rows) {
      add_heads(gradient.row(j), task.self_weights + j * heads, heads, width,
                row);
      add_heads(destination_vector, scores.destinations + j * heads, heads,
                width, row);
      for (std::int64_t h = 0; h < heads; ++h)
        sum[h] += scores.self[j * heads + h];
    }
    add_heads(source_vector, sum, heads, width, row);
  }
}

GRAPHMILL_CLONES
void add_head_sums(const_matrix z, const float* scale, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* sums) {
  for (auto i = begin; i < end; ++i)
    add_heads(z.row(i), scale + i * heads, heads, z.columns / heads, sums);
}

} // namespace graphmill
