#include "pipelines/kernels/edge_product.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

using simd::load;
using simd::spread;
using simd::store;
using simd::width_of;

// A product waits for the one before, so a tile has enough sums for all units
// of a core, and no more than its registers hold. Loops over registers are
// unrolled by pragmas, for else the compiler keeps the sums in memory.

template <class V>
constexpr bool is_wide = width_of<V> == simd::width;

/// Products of some edges from number `e` on, for some columns.
template <class V, int Edges, int Vectors>
GRAPHMILL_INLINE void
add_tile(const const_matrix& features, const const_matrix& weight,
         std::int64_t e, std::int64_t at, float* out, std::int64_t stride) {
  V rows[Edges][Vectors];
#pragma GCC unroll 4
  for (int k = 0; k < Edges; ++k)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v)
      rows[k][v] = load<V>(out + k * stride + v * width_of<V>);
  for (std::int64_t f = 0; f < features.columns; ++f) {
    V one[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v)
      one[v] = load<V>(weight.row(f) + at + v * width_of<V>);
#pragma GCC unroll 4
    for (int k = 0; k < Edges; ++k) {
      const auto feature = spread<V>(features.row(e + k)[f]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v)
        rows[k][v] = simd::fused(feature, one[v], rows[k][v]);
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < Edges; ++k)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v)
      store(rows[k][v], out + k * stride + v * width_of<V>);
}

template <class V, int Vectors>
GRAPHMILL_INLINE void add_columns(const const_matrix& features,
                                  const const_matrix& weight,
                                  std::int64_t begin, std::int64_t end,
                                  std::int64_t at, const matrix& out) {
  constexpr int at_once = 4;
  auto e = begin;
  for (; e + at_once <= end; e += at_once)
    add_tile<V, at_once, Vectors>(features, weight, e, at,
                                  out.row(e - begin) + at, out.columns);
  for (; e < end; ++e)
    add_tile<V, 1, Vectors>(features, weight, e, at, out.row(e - begin) + at,
                            out.columns);
}

template <class V>
GRAPHMILL_INLINE void add_all(const const_matrix& features,
                              const const_matrix& weight, std::int64_t begin,
                              std::int64_t end, const matrix& out) {
  constexpr int most = is_wide<V> ? 4 : 2;
  std::int64_t at = 0;
  for (; at + most * width_of<V> <= out.columns; at += most * width_of<V>)
    add_columns<V, most>(features, weight, begin, end, at, out);
  const auto rest = (out.columns - at) / width_of<V>;
  if constexpr (is_wide<V>) {
    if (rest == 3)
      add_columns<V, 3>(features, weight, begin, end, at, out);
    else if (rest == 2)
      add_columns<V, 2>(features, weight, begin, end, at, out);
    else if (rest == 1)
      add_columns<V, 1>(features, weight, begin, end, at, out);
  }
}

/// Sums of some features from number `first` on, for some columns.
template <class V, int Features, int Vectors>
GRAPHMILL_INLINE void
sum_tile(const const_matrix& features, const float* changes,
         std::int64_t stride, std::int64_t begin, std::int64_t end,
         std::int64_t first, const matrix& sums, std::int64_t at) {
  V all[Features][Vectors];
#pragma GCC unroll 8
  for (int f = 0; f < Features; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      all[f][v] = load<V>(sums.row(first + f) + at + v * width_of<V>);
  for (auto e = begin; e < end; ++e, changes += stride) {
    const auto* feature = features.row(e) + first;
    V change[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      change[v] = load<V>(changes + v * width_of<V>);
#pragma GCC unroll 8
    for (int f = 0; f < Features; ++f)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        all[f][v] = simd::fused(spread<V>(feature[f]), change[v], all[f][v]);
  }
#pragma GCC unroll 8
  for (int f = 0; f < Features; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      store(all[f][v], sums.row(first + f) + at + v * width_of<V>);
}

template <class V, int Vectors>
GRAPHMILL_INLINE void sum_columns(const const_matrix& features,
                                  const const_matrix& changes,
                                  std::int64_t begin, std::int64_t end,
                                  const matrix& sums, std::int64_t at) {
  constexpr int most = is_wide<V> ? 8 : 6;
  const auto* first = changes.data + at;
  std::int64_t f = 0;
  for (; f + most <= features.columns; f += most)
    sum_tile<V, most, Vectors>(features, first, changes.columns, begin, end, f,
                               sums, at);
  for (; f + 2 <= features.columns; f += 2)
    sum_tile<V, 2, Vectors>(features, first, changes.columns, begin, end, f,
                            sums, at);
  if (f < features.columns)
    sum_tile<V, 1, Vectors>(features, first, changes.columns, begin, end, f,
                            sums, at);
}

template <class V>
GRAPHMILL_INLINE void sum_all(const const_matrix& features,
                              const const_matrix& changes, std::int64_t begin,
                              std::int64_t end, const matrix& sums) {
  constexpr int most = 2;
  std::int64_t at = 0;
  for (; at + most * width_of<V> <= changes.columns; at += most * width_of<V>)
    sum_columns<V, most>(features, changes, begin, end, sums, at);
  if constexpr (is_wide<V>)
    if (at < changes.columns)
      sum_columns<V, 1>(features, changes, begin, end, sums, at);
}

GRAPHMILL_WIDE
void add_wide(const const_matrix& features, const const_matrix& weight,
              std::int64_t begin, std::int64_t end, const matrix& out) {
  add_all<simd::floats>(features, weight, begin, end, out);
}

GRAPHMILL_NARROW
void add_narrow(const const_matrix& features, const const_matrix& weight,
                std::int64_t begin, std::int64_t end, const matrix& out) {
  add_all<simd::octet>(features, weight, begin, end, out);
}

GRAPHMILL_WIDE
void sum_wide(const const_matrix& features, const const_matrix& changes,
              std::int64_t begin, std::int64_t end, const matrix& sums) {
  sum_all<simd::floats>(features, changes, begin, end, sums);
}

GRAPHMILL_NARROW
void sum_narrow(const const_matrix& features, const const_matrix& changes,
                std::int64_t begin, std::int64_t end, const matrix& sums) {
  sum_all<simd::octet>(features, changes, begin, end, sums);
}

} // namespace

std::int64_t product_columns(std::int64_t columns) {
  return (columns + simd::width - 1) / simd::width * simd::width;
}

std::int64_t product_edges(std::int64_t columns) {
  constexpr std::int64_t first_cache = 28 * 1024; // What is left for products.
  return std::max<std::int64_t>(first_cache / (columns * 4), 8);
}

owned_matrix product_weight(const_matrix weight, std::int64_t rows,
                            const std::shared_ptr<buffer_pool>& pool) {
  owned_matrix out{rows, product_columns(weight.columns), pool};
  std::fill_n(out.data(), out.view().size(), 0.0f);
  for (std::int64_t f = 0; f < weight.rows; ++f)
    std::copy_n(weight.row(f), weight.columns, out.view().row(f));
  return out;
}

void add_products(const_matrix features, const_matrix weight,
                  std::int64_t begin, std::int64_t end, matrix out) {
  (simd::has_wide_registers() ? add_wide : add_narrow)(features, weight, begin,
                                                       end, out);
}

void add_product_gradient(const_matrix features, const_matrix changes,
                          std::int64_t begin, std::int64_t end, matrix sums) {
  if (begin == end)
    return; // There may be no memory for changes.
  (simd::has_wide_registers() ? sum_wide : sum_narrow)(features, changes, begin,
                                                       end, sums);
}

} // namespace graphmill
