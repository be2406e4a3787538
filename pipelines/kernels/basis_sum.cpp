#include "pipelines/kernels/basis_sum.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// In sixteen sums, which are added up in pairs.
GRAPHMILL_INLINE float product_of_rows(const float* a, const float* b,
                                       std::int64_t width) {
  simd::floats sum = {};
  std::int64_t at = 0;
  for (; at + simd::width <= width; at += simd::width)
    sum = simd::fused(simd::load<simd::floats>(a + at),
                      simd::load<simd::floats>(b + at), sum);
  float sums[simd::width];
  for (int i = 0; i < simd::width; ++i)
    sums[i] = sum[i];
  for (; at < width; ++at)
    sums[0] = simd::fused(a[at], b[at], sums[0]);
  for (int half = simd::width / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      sums[i] += sums[i + half];
  return sums[0];
}

} // namespace

GRAPHMILL_CLONES
void sum_bases(const basis_sum& task, std::int64_t begin, std::int64_t end,
               matrix out) {
  const auto width = task.x.columns;
  const auto bases = task.factors.columns;
  std::fill(out.data, out.data + out.size(), 0.0f);
  for (auto i = begin; i < end; ++i)
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const auto* x = task.x.row(task.columns[e]);
      const auto* factors = task.factors.row(task.relations[e]);
      for (std::int64_t b = 0; b < bases; ++b) {
        const auto factor = factors[b] * task.values[e];
        auto* sum = out.row(i - begin) + b * width;
        for (std::int64_t c = 0; c < width; ++c)
          sum[c] = simd::fused(factor, x[c], sum[c]);
      }
    }
}

GRAPHMILL_CLONES
void add_factor_gradients(const basis_sum& task, std::int64_t begin,
                          std::int64_t end, const_matrix gradient, matrix out) {
  const auto width = task.x.columns;
  for (auto i = begin; i < end; ++i)
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const auto* x = task.x.row(task.columns[e]);
      auto* sums = out.row(task.relations[e]);
      for (std::int64_t b = 0; b < out.columns; ++b)
        sums[b] = simd::fused(
          task.values[e],
          product_of_rows(x, gradient.row(i - begin) + b * width, width),
          sums[b]);
    }
}

} // namespace graphmill
