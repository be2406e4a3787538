#include "pipelines/kernels/edge_rows.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

GRAPHMILL_INLINE float scale_of(const edge_sum& task, std::int64_t e) {
  const auto scale = task.values == nullptr ? 1.0f : task.values[e];
  return task.column_scale == nullptr
           ? scale
           : scale * task.column_scale[task.columns[e]];
}

/// Sums `Octets` times eight columns of row `i`, from column `at` on. The sums
/// stay in registers and are written once.
template <int Octets>
GRAPHMILL_INLINE void sum_block(const edge_sum& task, std::int64_t i,
                                std::int64_t at, const matrix& out) {
  simd::octet sums[Octets] = {};
  for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
    const auto scale = simd::octet{} + scale_of(task, e);
    const auto* x = task.x.row(e) + at;
    for (int v = 0; v < Octets; ++v)
      sums[v] = simd::fused(
        scale, simd::load<simd::octet>(x + v * simd::octet_width), sums[v]);
  }
  auto* row = out.row(i) + at;
  for (int v = 0; v < Octets; ++v)
    simd::store(sums[v] * task.row_scale[i], row + v * simd::octet_width);
}

} // namespace

GRAPHMILL_CLONES
void run(const edge_sum& task, std::int64_t begin, std::int64_t end,
         matrix out) {
  const auto width = task.x.columns;
  for (auto i = begin; i < end; ++i) {
    std::int64_t at = 0;
    for (; at + simd::width <= width; at += simd::width)
      sum_block<2>(task, i, at, out);
    for (; at + simd::octet_width <= width; at += simd::octet_width)
      sum_block<1>(task, i, at, out);
    auto* row = out.row(i);
    std::fill(row + at, row + width, 0.0f);
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const auto scale = scale_of(task, e);
      const auto* x = task.x.row(e);
      for (auto c = at; c < width; ++c)
        row[c] = simd::fused(scale, x[c], row[c]);
    }
    for (auto c = at; c < width; ++c)
      row[c] *= task.row_scale[i];
  }
}

GRAPHMILL_CLONES
void edge_sum_backward(const edge_sum& task, const_matrix gradient,
                       std::int64_t begin, std::int64_t end, matrix into) {
  for (auto i = begin; i < end; ++i) {
    const auto* upstream = gradient.row(i);
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const auto scale = task.row_scale[i] * scale_of(task, e);
      auto* row = into.row(e);
      for (std::int64_t c = 0; c < into.columns; ++c)
        row[c] = simd::fused(scale, upstream[c], row[c]);
    }
  }
}

} // namespace graphmill
