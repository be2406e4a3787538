#include "pipelines/kernels/edge_relu.hpp"

#include "pipelines/kernels/edge_product.hpp"
#include "pipelines/kernels/octets.hpp"
#include "pipelines/kernels/row_prefetch.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <vector>

namespace graphmill {

namespace {

// Loops over registers are unrolled by pragmas, for else the compiler keeps the
// sums in memory.

using octets::columns_at;
using octets::load;
using octets::octet;
using octets::sign_lanes;
using octets::spread;
using octets::store;

GRAPHMILL_INLINE float value_of_edge(const edge_relu& task, std::int64_t e) {
  return task.values == nullptr ? 1.0f : task.values[e];
}

GRAPHMILL_INLINE std::int64_t bytes_of_edge(const edge_relu& task) {
  return octets::sign_bytes(octets::octets_of(task.x.columns));
}

GRAPHMILL_INLINE void keep_signs(const edge_relu& task, std::int64_t e,
                                 std::int64_t at, sign_lanes kept) {
  octets::keep_signs(task.signs + e * bytes_of_edge(task),
                     at / simd::octet_width, kept);
}

/// The bits of the registers from column `at` on, from the lowest one up.
GRAPHMILL_INLINE sign_lanes kept_signs(const edge_relu& task, std::int64_t e,
                                       std::int64_t at) {
  return octets::kept_signs(task.signs + e * bytes_of_edge(task),
                            at / simd::octet_width);
}

/// Columns of one row of the output, to which edges [begin, end) are added. All
/// of them are gone through for some columns before the next, so that sums stay
/// in registers.
struct relu_row {
  static constexpr int most_vectors = 8;

  const edge_relu& task;
  std::int64_t begin, end;
  const float* rows; ///< What is cut off below 0, of edge `begin`.
  std::int64_t stride;
  float* out;

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    octet sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sums[v] = place.get(out + at + v * simd::octet_width);
    const auto* row = rows + at;
    for (auto e = begin; e < end; ++e, row += stride) {
      const auto value = spread(value_of_edge(task, e));
      sign_lanes kept = {};
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const auto sum = load(row + v * simd::octet_width);
        const sign_lanes positive = sum > octet{};
        kept |= positive & (1 << v);
        sums[v] = simd::fused(value, positive ? sum : octet{}, sums[v]);
      }
      if (task.signs != nullptr)
        keep_signs(task, e, at, kept);
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      place.put(sums[v], out + at + v * simd::octet_width);
  }
};

/// Columns of one row of the gradient of x.
struct relu_source {
  static constexpr int most_vectors = 8;

  const edge_relu& task;
  const transposed_edges& back;
  const_matrix gradient;
  std::int64_t j;
  float* out;

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    octet sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sums[v] = place.get(out + at + v * simd::octet_width);
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      const auto e = back.positions[t];
      const auto* upstream = gradient.row(back.columns[t]) + at;
      const auto kept = kept_signs(task, e, at);
      const auto value = spread(value_of_edge(task, e));
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        sums[v] += (kept & (1 << v)) != 0
                     ? place.get(upstream + v * simd::octet_width) * value
                     : octet{};
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      place.put(sums[v], out + at + v * simd::octet_width);
  }
};

/// Columns of one row of the gradient of the output, for that of features.
struct relu_features {
  static constexpr int most_vectors = 8;

  const edge_relu& task;
  const_matrix gradient;
  std::int64_t first;
  std::int64_t i;
  matrix into;

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    const auto* upstream = gradient.row(i) + at;
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const auto kept = kept_signs(task, e, at);
      const auto value = spread(value_of_edge(task, e));
      octet changes[Vectors];
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        changes[v] = (kept & (1 << v)) != 0
                       ? place.get(upstream + v * simd::octet_width) * value
                       : octet{};
      auto* out = into.row(e);
      for (std::int64_t f = 0; f < into.columns; ++f) {
        const auto* weight = task.weight.row(first + f) + at;
        octet products = {};
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v)
          products = simd::fused(
            changes[v], load(weight + v * simd::octet_width), products);
        float sum = 0;
        for (int c = 0; c < simd::octet_width; ++c)
          sum += products[c];
        out[f] += sum;
      }
    }
  }
};

template <class Row>
GRAPHMILL_INLINE void all_columns(const Row& row, std::int64_t width) {
  constexpr int most = Row::most_vectors;
  std::int64_t at = 0;
  for (; at + most * simd::octet_width <= width; at += most * simd::octet_width)
    row.template columns<most, false>(at);
  if (most > 4 && at + 4 * simd::octet_width <= width) {
    row.template columns<4, false>(at);
    at += 4 * simd::octet_width;
  }
  if (at + 2 * simd::octet_width <= width) {
    row.template columns<2, false>(at);
    at += 2 * simd::octet_width;
  }
  if (at + simd::octet_width <= width) {
    row.template columns<1, false>(at);
    at += simd::octet_width;
  }
  if (at < width)
    row.template columns<1, true>(at);
}

/// Visits the edges [begin, end) row by row. Row `i` has the first of them.
template <class Visitor>
GRAPHMILL_INLINE void by_rows(const edge_relu& task, std::int64_t i,
                              std::int64_t begin, std::int64_t end,
                              const Visitor& visitor) {
  for (auto e = begin; e < end; ++i) {
    const auto last = std::min(end, task.indptr[i + 1]);
    if (e < last)
      visitor.visit(i, e, last);
    e = std::max(e, last);
  }
}

/// out[e - begin] = x[j] + b
GRAPHMILL_CLONES
void write_sources(const edge_relu& task, std::int64_t begin, std::int64_t end,
                   std::int64_t last, const matrix& out) {
  const auto width = task.x.columns;
  const auto* bias = task.weight.row(task.weight.rows - 1);
  const auto distance = prefetch_distance(width);
  for (auto e = begin; e < end; ++e) {
    if (e + distance < last)
      prefetch_row(task.x.row(task.columns[e + distance]), width);
    const auto* x = task.x.row(task.columns[e]);
    auto* row = out.row(e - begin);
    for (std::int64_t c = 0; c < width; ++c)
      row[c] = x[c] + bias[c];
  }
}

/// Adds edges to rows of the output.
struct relu_sum {
  const edge_relu& task;
  std::int64_t begin; ///< The edge of the first of `rows`.
  const matrix& rows;
  const matrix& out;

  GRAPHMILL_INLINE void visit(std::int64_t i, std::int64_t first,
                              std::int64_t last) const {
    all_columns(relu_row{task, first, last, rows.row(first - begin),
                         rows.columns, out.row(i)},
                task.x.columns);
  }
};

GRAPHMILL_CLONES
void add_edges(const edge_relu& task, std::int64_t i, std::int64_t begin,
               std::int64_t end, const matrix& rows, const matrix& out) {
  by_rows(task, i, begin, end, relu_sum{task, begin, rows, out});
}

/// Some columns of what edges [begin, end) of a row have of the gradient of
/// what is summed.
struct relu_changes {
  static constexpr int most_vectors = 8;

  const edge_relu& task;
  const float* upstream; ///< The row of the gradient of the output.
  std::int64_t begin, end;
  float* rows; ///< Of edge `begin`.
  std::int64_t stride;
  float* bias; ///< Receives the sum of what is written.

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    octet from[Vectors], sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      from[v] = place.get(upstream + at + v * simd::octet_width);
      sums[v] = load(bias + at + v * simd::octet_width);
    }
    auto* row = rows + at;
    for (auto e = begin; e < end; ++e, row += stride) {
      const auto kept = kept_signs(task, e, at);
      const auto value = spread(value_of_edge(task, e));
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const auto change = (kept & (1 << v)) != 0 ? from[v] * value : octet{};
        store(change, row + v * simd::octet_width);
        sums[v] += change;
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      store(sums[v], bias + at + v * simd::octet_width);
  }
};

/// The same for rows of the gradient.
struct relu_change {
  const edge_relu& task;
  const const_matrix& gradient;
  std::int64_t begin; ///< The edge of the first row of `out`.
  const matrix& out;
  float* bias;

  GRAPHMILL_INLINE void visit(std::int64_t i, std::int64_t first,
                              std::int64_t last) const {
    all_columns(relu_changes{task, gradient.row(i), first, last,
                             out.row(first - begin), out.columns, bias},
                task.x.columns);
  }
};

GRAPHMILL_CLONES
void write_changes(const edge_relu& task, const const_matrix& gradient,
                   std::int64_t i, std::int64_t begin, std::int64_t end,
                   const matrix& out, float* bias) {
  by_rows(task, i, begin, end, relu_change{task, gradient, begin, out, bias});
}

/// Calls f(i, first, last, rows) for pieces of the edges of rows [begin, end):
/// i is the row of the first one, and `rows` memory for products, with zeros in
/// columns behind those of E.
template <class F>
void for_edges(const edge_relu& task, std::int64_t begin, std::int64_t end,
               const F& f) {
  const auto columns = task.weight.columns;
  const auto most = product_edges(columns);
  std::vector<float> memory(static_cast<std::size_t>(most * columns));
  const auto last = task.indptr[end];
  auto i = begin;
  for (auto from = task.indptr[begin]; from < last; from += most) {
    while (task.indptr[i + 1] <= from)
      ++i;
    f(i, from, std::min(last, from + most),
      matrix{memory.data(), most, columns});
  }
}

} // namespace

std::int64_t edge_relu_bytes(std::int64_t width) {
  return octets::sign_bytes(octets::octets_of(width));
}

owned_matrix edge_relu_weight(const_matrix weight, const float* bias,
                              const std::shared_ptr<buffer_pool>& pool) {
  auto out = product_weight(weight, weight.rows + 1, pool);
  std::copy_n(bias, weight.columns, out.view().row(weight.rows));
  return out;
}

void run(const edge_relu& task, std::int64_t begin, std::int64_t end,
         matrix out) {
  const auto width = task.x.columns;
  for (auto i = begin; i < end; ++i)
    for (std::int64_t c = 0; c < width; ++c)
      out.row(i)[c] = task.self * task.x.row(i)[c];
  for_edges(task, begin, end,
            [&](std::int64_t i, std::int64_t first, std::int64_t last,
                const matrix& rows) {
              write_sources(task, first, last, task.indptr[end], rows);
              add_products(task.features, task.weight, first, last, rows);
              add_edges(task, i, first, last, rows, out);
            });
}

void edge_relu_backward(const edge_relu& task, const_matrix gradient,
                        std::int64_t begin, std::int64_t end, matrix sums) {
  auto* bias = sums.row(sums.rows - 1);
  for_edges(task, begin, end,
            [&](std::int64_t i, std::int64_t first, std::int64_t last,
                const matrix& rows) {
              write_changes(task, gradient, i, first, last, rows, bias);
              add_product_gradient(task.features, rows, first, last, sums);
            });
}

GRAPHMILL_CLONES
void edge_relu_features_backward(const edge_relu& task, const_matrix gradient,
                                 std::int64_t first, std::int64_t begin,
                                 std::int64_t end, matrix into) {
  for (auto i = begin; i < end; ++i)
    all_columns(relu_features{task, gradient, first, i, into}, task.x.columns);
}

GRAPHMILL_CLONES
void edge_relu_sources_backward(const edge_relu& task,
                                const transposed_edges& back,
                                const_matrix gradient, std::int64_t begin,
                                std::int64_t end, matrix out) {
  const auto width = task.x.columns;
  const auto last = back.indptr[end];
  const auto distance = prefetch_distance(width);
  for (auto j = begin; j < end; ++j) {
    const auto until = std::min(back.indptr[j + 1] + distance, last);
    for (auto t = back.indptr[j] + distance; t < until; ++t) {
      prefetch_row(gradient.row(back.columns[t]), width);
      __builtin_prefetch(task.signs + back.positions[t] * bytes_of_edge(task));
    }
    all_columns(relu_source{task, back, gradient, j, out.row(j - begin)},
                width);
  }
}

} // namespace graphmill
