#include "pipelines/kernels/edge_relu.hpp"

#include "pipelines/kernels/octets.hpp"
#include "pipelines/kernels/row_prefetch.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>

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

/// Columns of one row of the output. All its edges are gone through for some
/// columns before the next, so that sums stay in registers.
struct relu_row {
  /// So few that two edges share what is loaded of E.
  static constexpr int most_vectors = 4;

  const edge_relu& task;
  std::int64_t i;
  float* out;

  /// Adds `Edges` edges from number `e` on, one after the other.
  template <int Edges, int Vectors, bool Partial>
  GRAPHMILL_INLINE void add(std::int64_t e, std::int64_t at,
                            octet* sums) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    const auto features = task.weight.rows - 1;
    const auto* bias = task.weight.row(features) + at;
    octet rows[Edges][Vectors];
#pragma GCC unroll 2
    for (int k = 0; k < Edges; ++k)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v)
        rows[k][v] = place.get(task.x.row(task.columns[e + k]) + at
                               + v * simd::octet_width)
                     + load(bias + v * simd::octet_width);
    for (std::int64_t f = 0; f < features; ++f) {
      const auto* weight = task.weight.row(f) + at;
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        const auto one = load(weight + v * simd::octet_width);
#pragma GCC unroll 2
        for (int k = 0; k < Edges; ++k)
          rows[k][v] =
            simd::fused(spread(task.features.row(e + k)[f]), one, rows[k][v]);
      }
    }
#pragma GCC unroll 2
    for (int k = 0; k < Edges; ++k) {
      const auto value = spread(value_of_edge(task, e + k));
      sign_lanes kept = {};
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        const sign_lanes positive = rows[k][v] > octet{};
        kept |= positive & (1 << v);
        sums[v] = simd::fused(value, positive ? rows[k][v] : octet{}, sums[v]);
      }
      if (task.signs != nullptr)
        keep_signs(task, e + k, at, kept);
    }
  }

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    octet sums[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v)
      sums[v] = place.get(task.x.row(i) + at + v * simd::octet_width)
                * spread(task.self);
    auto e = task.indptr[i];
    for (; e + 2 <= task.indptr[i + 1]; e += 2)
      add<2, Vectors, Partial>(e, at, sums);
    if (e < task.indptr[i + 1])
      add<1, Vectors, Partial>(e, at, sums);
#pragma GCC unroll 4
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

/// Columns of the gradients of E and b that are made together.
constexpr std::int64_t pair_width = 2 * simd::octet_width;

/// What the columns from `at` on, eight at most, of each edge's row have of the
/// gradient of what is summed.
/// @param i The row of edge `begin`. @param out [end - begin, `pair_width`]
template <bool Partial>
GRAPHMILL_INLINE void write_changes(const edge_relu& task,
                                    const_matrix gradient, std::int64_t i,
                                    std::int64_t begin, std::int64_t end,
                                    std::int64_t at, float* out) {
  const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
  for (auto e = begin; e < end; ++i) {
    const auto upstream = place.get(gradient.row(i) + at);
    for (const auto last = std::min(end, task.indptr[i + 1]); e < last;
         ++e, out += pair_width)
      store((kept_signs(task, e, at) & 1) != 0
              ? upstream * spread(value_of_edge(task, e))
              : octet{},
            out);
  }
}

/// Adds products of some features with changes of edges [begin, end) to the
/// gradient of E. @param first The first of these features.
/// @param changes [edges, `pair_width`] Of the columns from `at` on.
template <int Features>
GRAPHMILL_INLINE void add_changes(const_matrix features, std::int64_t begin,
                                  std::int64_t end, std::int64_t first,
                                  const float* changes, matrix sums,
                                  std::int64_t at) {
  octet low[Features], high[Features];
#pragma GCC unroll 4
  for (int f = 0; f < Features; ++f) {
    low[f] = load(sums.row(first + f) + at);
    high[f] = load(sums.row(first + f) + at + simd::octet_width);
  }
  for (auto e = begin; e < end; ++e, changes += pair_width) {
    const auto* feature = features.row(e) + first;
    const auto of_low = load(changes);
    const auto of_high = load(changes + simd::octet_width);
#pragma GCC unroll 4
    for (int f = 0; f < Features; ++f) {
      const auto one = spread(feature[f]);
      low[f] = simd::fused(one, of_low, low[f]);
      high[f] = simd::fused(one, of_high, high[f]);
    }
  }
#pragma GCC unroll 4
  for (int f = 0; f < Features; ++f) {
    store(low[f], sums.row(first + f) + at);
    store(high[f], sums.row(first + f) + at + simd::octet_width);
  }
}

/// The same for b.
GRAPHMILL_INLINE void add_biases(const float* changes, std::int64_t edges,
                                 float* sums) {
  auto low = load(sums);
  auto high = load(sums + simd::octet_width);
  for (std::int64_t e = 0; e < edges; ++e, changes += pair_width) {
    low += load(changes);
    high += load(changes + simd::octet_width);
  }
  store(low, sums);
  store(high, sums + simd::octet_width);
}

} // namespace

std::int64_t edge_relu_bytes(std::int64_t width) {
  return octets::sign_bytes(octets::octets_of(width));
}

owned_matrix edge_relu_weight(const_matrix weight, const float* bias,
                              const std::shared_ptr<buffer_pool>& pool) {
  constexpr auto width = pair_width; // `add_changes` takes as many.
  owned_matrix out{weight.rows + 1,
                   (weight.columns + width - 1) / width * width, pool};
  std::fill_n(out.data(), out.view().size(), 0.0f);
  for (std::int64_t f = 0; f < weight.rows; ++f)
    std::copy_n(weight.row(f), weight.columns, out.view().row(f));
  std::copy_n(bias, weight.columns, out.view().row(weight.rows));
  return out;
}

GRAPHMILL_CLONES
void run(const edge_relu& task, std::int64_t begin, std::int64_t end,
         matrix out) {
  const auto width = task.x.columns;
  const auto last = task.indptr[end];
  const auto distance = prefetch_distance(width);
  for (auto i = begin; i < end; ++i) {
    const auto until = std::min(task.indptr[i + 1] + distance, last);
    for (auto e = task.indptr[i] + distance; e < until; ++e)
      prefetch_row(task.x.row(task.columns[e]), width);
    all_columns(relu_row{task, i, out.row(i)}, width);
  }
}

GRAPHMILL_CLONES
void edge_relu_backward(const edge_relu& task, const_matrix gradient,
                        std::int64_t begin, std::int64_t end, matrix sums) {
  // Edges whose features and changes stay in a core's first cache.
  constexpr std::int64_t most = 128;
  float changes[most * pair_width];
  const auto width = task.x.columns;
  const auto features = sums.rows - 1;
  auto i = begin;
  for (auto from = task.indptr[begin]; from < task.indptr[end]; from += most) {
    const auto to = std::min(task.indptr[end], from + most);
    while (task.indptr[i + 1] <= from)
      ++i;
    for (std::int64_t at = 0; at < width; at += pair_width) {
      if (at + pair_width > width) // Columns that are not there bring nothing.
        std::fill_n(changes, most * pair_width, 0.0f);
      for (auto half = at; half < std::min(width, at + pair_width);
           half += simd::octet_width)
        if (half + simd::octet_width <= width)
          write_changes<false>(task, gradient, i, from, to, half,
                               changes + half - at);
        else
          write_changes<true>(task, gradient, i, from, to, half,
                              changes + half - at);
      add_biases(changes, to - from, sums.row(features) + at);
      std::int64_t f = 0;
      for (; f + 4 <= features; f += 4)
        add_changes<4>(task.features, from, to, f, changes, sums, at);
      for (; f < features; ++f)
        add_changes<1>(task.features, from, to, f, changes, sums, at);
    }
  }
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
