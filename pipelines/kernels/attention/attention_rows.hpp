#pragma once

#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/octets.hpp"
#include "pipelines/kernels/row_prefetch.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// What the kernels of both kinds of scores do with a row; for their sources
// alone. All of it is inlined into kernels with GRAPHMILL_CLONES.

namespace graphmill::attention_rows {

/// Of LeakyReLU below 0, as in the paper.
inline constexpr float slope = 0.2f;

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

/// Sixteen sums of products, in a fixed order, so that vectors may be used.
struct partial_sums {
  octets::octet low = {}, high = {};

  /// @returns how many products it has added: whole sixteens.
  GRAPHMILL_INLINE std::int64_t add(const float* a, const float* b,
                                    std::int64_t count) {
    std::int64_t c = 0;
    for (; c + simd::width <= count; c += simd::width) {
      low = simd::fused(octets::load(a + c), octets::load(b + c), low);
      high = simd::fused(octets::load(a + c + simd::octet_width),
                         octets::load(b + c + simd::octet_width), high);
    }
    return c;
  }

  GRAPHMILL_INLINE float sum() const {
    float out = 0;
    for (int i = 0; i < simd::octet_width; ++i)
      out += low[i];
    for (int i = 0; i < simd::octet_width; ++i)
      out += high[i];
    return out;
  }
};

/// The sum and the products from number `c` on.
GRAPHMILL_INLINE float with_rest(float sum, const float* a, const float* b,
                                 std::int64_t c, std::int64_t count) {
  // Where products are fused is part of what a digest of weights stands for:
  // whole fours of the rest are not, as compilers have had it for long.
  for (; c + 4 <= count; c += 4)
    for (int i = 0; i < 4; ++i)
      sum += a[c + i] * b[c + i];
  for (; c < count; ++c)
    sum = simd::fused(a[c], b[c], sum);
  return sum;
}

GRAPHMILL_INLINE float product(const float* a, const float* b,
                               std::int64_t count) {
  partial_sums partial;
  const auto c = partial.add(a, b, count);
  return with_rest(partial.sum(), a, b, c, count);
}

/// a . b + x . y, for the price of little more than one.
GRAPHMILL_INLINE float products(const float* a, const float* b,
                                std::int64_t count, const float* x,
                                const float* y, std::int64_t further) {
  partial_sums partial;
  const auto c = partial.add(a, b, count);
  const auto d = partial.add(x, y, further);
  return with_rest(with_rest(partial.sum(), a, b, c, count), x, y, d, further);
}

/// Asks for the rows of sources of the edges that come some edges behind those
/// of row i.
GRAPHMILL_INLINE void prefetch_sources(const attention& task, std::int64_t i) {
  const auto width = task.z.columns;
  const auto distance = prefetch_distance(width);
  const auto until =
    std::min(task.indptr[i + 1] + distance, task.indptr[task.rows]);
  for (auto e = task.indptr[i] + distance; e < until; ++e)
    prefetch_row(task.z.row(task.columns[e]), width);
}

/// Below all scores: that of edges of weight 0.
inline constexpr auto no_score = -std::numeric_limits<float>::infinity();

/// What is taken off all scores of a row, so that exp does not grow to
/// infinity: the largest one. Where all edges weigh 0 there is none.
GRAPHMILL_INLINE float peak_of(float largest) {
  return largest == no_score ? 0.0f : largest;
}

/// What makes shares of powers. Where all edges weigh 0 there are no shares.
GRAPHMILL_INLINE float inverse_of(float total) {
  return total == 0 ? 0.0f : 1 / total;
}

/// Replaces the scores of a row's edges, which lie in the place of the weights,
/// by their softmax.
/// @param self The score of the row with itself; read only with `self_weights`.
GRAPHMILL_INLINE void soften_scores(const attention& task, std::int64_t i,
                                    std::int64_t h, float self, float largest) {
  largest = peak_of(largest);
  const auto heads = task.heads;
  const auto from = task.indptr[i];
  const auto to = task.indptr[i + 1];
  const auto with_self = task.self_weights != nullptr;
  const auto self_power = with_self ? std::exp(self - largest) : 0.0f;
  auto total = self_power;
  for (auto e = from; e < to; ++e) {
    auto& weight = task.weights[e * heads + h];
    weight = std::exp(weight - largest);
    total += weight;
  }
  const auto inverse = inverse_of(total);
  for (auto e = from; e < to; ++e)
    task.weights[e * heads + h] *= inverse;
  if (with_self)
    task.self_weights[i * heads + h] = self_power * inverse;
}

/// What dropout has multiplied a weight by: 0 or its scale. A dropped one is -0
/// (see `activate`).
GRAPHMILL_INLINE float kept_share(const float* dropped, std::int64_t at,
                                  float scale) {
  constexpr std::uint32_t minus_zero = 0x80000000u;
  if (dropped == nullptr)
    return 1;
  return std::bit_cast<std::uint32_t>(dropped[at]) == minus_zero ? 0.0f : scale;
}

/// into += what row j of z has, as it is summed, of the gradient of a sum with
/// `share` of it, within each head.
GRAPHMILL_INLINE void add_message_gradient(const attention& task,
                                           std::int64_t j,
                                           const float* gradient,
                                           const float* share, float* into) {
  const auto heads = task.heads;
  const auto width = task.z.columns / heads;
  if (task.messages.data == nullptr)
    return add_heads(gradient, share, heads, width, into);
  const auto* message = task.messages.row(j);
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t c = h * width; c < (h + 1) * width; ++c)
      into[c] = simd::fused(
        share[h], gradient[c] * kept_share(message, c, task.message_scale),
        into[c]);
}

/// Fills the weights of row i as they are summed with.
GRAPHMILL_INLINE void drop_weights(const attention& task, std::int64_t i) {
  const auto heads = task.heads;
  const auto edges = task.indptr[task.rows];
  if (task.dropped_weights != nullptr)
    activate({task.weights, edges, heads}, nullptr, activation::none, task.drop,
             task.indptr[i], task.indptr[i + 1],
             {task.dropped_weights, edges, heads});
  if (task.dropped_self != nullptr)
    activate({task.self_weights, task.rows, heads}, nullptr, activation::none,
             task.drop_self, i, i + 1, {task.dropped_self, task.rows, heads});
}

/// Backward of the softmax of one row and head (see `attend_backward`): the
/// gradients of its scores as they are before it.
/// @param gradient Of the row of the output.
GRAPHMILL_INLINE void unsoften(const attention& task, const float* gradient,
                               std::int64_t i, std::int64_t h,
                               const score_gradients& out) {
  const auto heads = task.heads;
  const auto width = task.z.columns / heads;
  const auto with_self = task.self_weights != nullptr;
  const auto scale = task.drop.scale();
  const auto* g = gradient + h * width;
  const auto at = i * heads + h;
  const auto self_weight = with_self ? task.self_weights[at] : 0.0f;
  const auto self = with_self ? product(g, task.message(i) + h * width, width)
                                  * kept_share(task.dropped_self, at, scale)
                              : 0.0f;
  auto mean = self_weight * self;
  for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
    const auto place = e * heads + h;
    const auto* message = task.message(task.columns[e]) + h * width;
    auto along = 0.0f;
    if (task.features.data != nullptr)
      along = products(g, message, width,
                       task.sum_gradient + at * task.features.columns,
                       task.features.row(e), task.features.columns);
    else
      along = product(g, message, width);
    if (task.edges.data != nullptr)
      along += product(g, task.edges.row(e) + h * width, width);
    out.edges[place] = along * kept_share(task.dropped_weights, place, scale);
    mean = simd::fused(task.weights[place], out.edges[place], mean);
  }
  if (with_self)
    out.self[at] = self_weight * (self - mean);
  for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
    auto& change = out.edges[e * heads + h];
    change = task.weights[e * heads + h] * (change - mean);
  }
}

/// out = the row's sum of messages, by its weights.
GRAPHMILL_INLINE void sum_row(const attention& task, std::int64_t i,
                              float* out) {
  const auto heads = task.heads;
  const auto width = task.z.columns / heads;
  std::fill(out, out + task.z.columns, 0.0f);
  if (task.self_weights != nullptr)
    add_heads(task.message(i), task.self_shares() + i * heads, heads, width,
              out);
  for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
    add_heads(task.message(task.columns[e]), task.shares() + e * heads, heads,
              width, out);
    if (task.edges.data != nullptr)
      add_heads(task.edges.row(e), task.shares() + e * heads, heads, width,
                out);
  }
}

/// out[h] += scale[e, h] * x[e] over edges [begin, end).
/// @param out [heads, columns of x]
GRAPHMILL_INLINE void add_edge_rows(const_matrix x, const float* scale,
                                    std::int64_t heads, std::int64_t begin,
                                    std::int64_t end, float* out) {
  const auto width = x.columns;
  for (auto e = begin; e < end; ++e) {
    const auto* row = x.row(e);
    const auto* share = scale + e * heads;
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t c = 0; c < width; ++c)
        out[h * width + c] = simd::fused(share[h], row[c], out[h * width + c]);
  }
}

/// The same sum as `sum_row` of the features of the row's edges, if they have
/// any.
GRAPHMILL_INLINE void sum_features(const attention& task, std::int64_t i) {
  if (task.feature_sums == nullptr)
    return;
  const auto size = task.heads * task.features.columns;
  auto* out = task.feature_sums + i * size;
  std::fill(out, out + size, 0.0f);
  add_edge_rows(task.features, task.shares(), task.heads, task.indptr[i],
                task.indptr[i + 1], out);
}

} // namespace graphmill::attention_rows
