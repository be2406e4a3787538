#include "pipelines/kernels/gather_sum.hpp"

#include "pipelines/kernels/row_prefetch.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

using simd::octet;

/// What a row of `x` is multiplied by: nothing, a number of the row, one of the
/// entry that names it, or the product of both.
enum class weighing { none, by_column, by_entry, by_both };

/// One row of the result: where its columns are and what to multiply by.
struct row_task {
  const local_id* columns;
  std::int64_t count;
  const float* x;
  std::int64_t width;
  const float* scales; ///< By column; where `weighing` says so, as the next.
  const float* values; ///< By entry.
  float scale;
  bool accumulate;
  float* out;
};

/// What the row of entry `e`, which names row `j`, is multiplied by.
template <weighing By>
GRAPHMILL_INLINE float factor(const row_task& task, std::int64_t e,
                              std::int64_t j) {
  if constexpr (By == weighing::by_column)
    return task.scales[j];
  else if constexpr (By == weighing::by_entry)
    return task.values[e];
  else if constexpr (By == weighing::by_both)
    return task.scales[j] * task.values[e];
  else
    return 1.0f;
}

/// Sums `Octets` times eight columns, from column `at` on. All edges
/// of a row are gone through for one block of columns before the next block, so
/// that sums stay in registers and are written once.
template <int Octets, weighing By>
GRAPHMILL_INLINE void sum_block(const row_task& task, std::int64_t at) {
  octet sums[Octets] = {};
  for (std::int64_t e = 0; e < task.count; ++e) {
    const auto j = task.columns[e];
    const auto* source = task.x + j * task.width + at;
    const auto scale = factor<By>(task, e, j);
    for (int v = 0; v < Octets; ++v) {
      const auto value = simd::load<octet>(source + v * simd::octet_width);
      if constexpr (By == weighing::none)
        sums[v] += value;
      else
        sums[v] = simd::fused(value, octet{} + scale, sums[v]);
    }
  }
  auto* out = task.out + at;
  for (int v = 0; v < Octets; ++v) {
    auto* target = out + v * simd::octet_width;
    const octet sum = sums[v] * task.scale;
    simd::store(task.accumulate ? simd::load<octet>(target) + sum : sum,
                target);
  }
}

/// Sums the columns from `at` on, of which there are fewer than sixteen.
template <weighing By>
GRAPHMILL_INLINE void sum_tail(const row_task& task, std::int64_t at) {
  float sums[simd::width] = {};
  const auto rest = static_cast<int>(task.width - at);
  for (std::int64_t e = 0; e < task.count; ++e) {
    const auto j = task.columns[e];
    const auto* source = task.x + j * task.width + at;
    const auto scale = factor<By>(task, e, j);
    for (int c = 0; c < rest; ++c)
      sums[c] = By == weighing::none ? sums[c] + source[c]
                                     : simd::fused(source[c], scale, sums[c]);
  }
  for (int c = 0; c < rest; ++c) {
    auto& out = task.out[at + c];
    out = task.accumulate ? simd::fused(sums[c], task.scale, out)
                          : sums[c] * task.scale;
  }
}

template <weighing By>
GRAPHMILL_INLINE void sum_row(const row_task& task) {
  std::int64_t at = 0;
  for (; at + 8 * simd::octet_width <= task.width; at += 8 * simd::octet_width)
    sum_block<8, By>(task, at);
  for (; at + 4 * simd::octet_width <= task.width; at += 4 * simd::octet_width)
    sum_block<4, By>(task, at);
  for (; at + simd::width <= task.width; at += simd::width)
    sum_block<2, By>(task, at);
  if (at < task.width)
    sum_tail<By>(task, at);
}

template <weighing By>
GRAPHMILL_INLINE void sum_rows(const gather_sum& task, std::int64_t begin,
                               std::int64_t end, std::int64_t accumulate,
                               const matrix& out) {
  const auto width = task.x.columns;
  const auto last = task.indptr[end];
  const auto distance = prefetch_distance(width);
  for (auto i = begin; i < end; ++i) {
    const auto from = task.indptr[i];
    const auto to = task.indptr[i + 1];
    for (auto e = from + distance; e < std::min(to + distance, last); ++e)
      prefetch_row(task.x.row(task.columns[e]), width);
    sum_row<By>(
      {.columns = task.columns + from,
       .count = to - from,
       .x = task.x.data,
       .width = width,
       .scales = task.column_scale,
       .values = task.values == nullptr ? nullptr : task.values + from,
       .scale = task.row_scale ? task.row_scale[i] : 1.0f,
       .accumulate = i < accumulate,
       .out = out.row(i)});
  }
}

} // namespace

GRAPHMILL_CLONES
void run(const gather_sum& task, std::int64_t begin, std::int64_t end,
         std::int64_t accumulate, matrix out) {
  if (begin >= end || task.x.columns == 0)
    return;
  if (task.values != nullptr && task.column_scale != nullptr)
    sum_rows<weighing::by_both>(task, begin, end, accumulate, out);
  else if (task.values != nullptr)
    sum_rows<weighing::by_entry>(task, begin, end, accumulate, out);
  else if (task.column_scale != nullptr)
    sum_rows<weighing::by_column>(task, begin, end, accumulate, out);
  else
    sum_rows<weighing::none>(task, begin, end, accumulate, out);
}

GRAPHMILL_CLONES
void scale_rows(const_matrix x, const float* scale, std::int64_t begin,
                std::int64_t end, matrix out) {
  for (auto i = begin; i < end; ++i)
    for (std::int64_t c = 0; c < x.columns; ++c)
      out.row(i)[c] = scale[i] * x.row(i)[c];
}

GRAPHMILL_CLONES
void add_rows(const_matrix x, matrix out) {
  for (std::int64_t i = 0; i < x.size(); ++i)
    out.data[i] += x.data[i];
}

} // namespace graphmill
