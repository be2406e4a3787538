#include "pipelines/kernels/edge_relu.hpp"

#include "pipelines/kernels/row_prefetch.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

// Loops over registers are unrolled by pragmas, for else the compiler keeps the
// sums in memory.

using simd::floats;
using simd::loose_floats;

/// Registers whose bits share the bytes of one group: column c has bit c % 128
/// / 16 of byte c / 128 * 16 + c % 16, which needs no shuffling.
constexpr std::int64_t sign_group = 8;

using sign_lanes = std::int32_t __attribute__((vector_size(64)));
using lane_bytes = std::uint8_t __attribute__((vector_size(16)));
using loose_bytes = std::uint8_t __attribute__((vector_size(16), aligned(1)));

GRAPHMILL_INLINE floats spread(float x) {
  return x - floats{};
}

GRAPHMILL_INLINE floats load(const float* from) {
  return *reinterpret_cast<const loose_floats*>(from);
}

GRAPHMILL_INLINE void store(floats x, float* to) {
  *reinterpret_cast<loose_floats*>(to) = x;
}

/// One register of columns of a row, of which there are fewer if it is partial:
/// zeros stand for the others.
template <bool Partial>
struct columns_at {
  int count;

  GRAPHMILL_INLINE floats get(const float* from) const {
    if constexpr (!Partial)
      return load(from);
    float all[simd::width] = {};
    for (int c = 0; c < count; ++c)
      all[c] = from[c];
    return load(all);
  }

  GRAPHMILL_INLINE void put(floats x, float* to) const {
    if constexpr (!Partial)
      return store(x, to);
    float all[simd::width];
    store(x, all);
    for (int c = 0; c < count; ++c)
      to[c] = all[c];
  }
};

GRAPHMILL_INLINE float value_of_edge(const edge_relu& task, std::int64_t e) {
  return task.values == nullptr ? 1.0f : task.values[e];
}

GRAPHMILL_INLINE std::uint8_t* signs_at(const edge_relu& task, std::int64_t e,
                                        std::int64_t at) {
  return task.signs + e * edge_relu_bytes(task.x.columns)
         + at / (sign_group * simd::width) * simd::width;
}

/// The place of the bits of column `at` in their bytes.
GRAPHMILL_INLINE int shift_at(std::int64_t at) {
  return static_cast<int>(at / simd::width % sign_group);
}

/// The first of a sign_group's registers replace what its bytes hold.
GRAPHMILL_INLINE void keep_signs(const edge_relu& task, std::int64_t e,
                                 std::int64_t at, sign_lanes kept) {
  const auto shift = shift_at(at);
  auto* bytes = reinterpret_cast<loose_bytes*>(signs_at(task, e, at));
  const auto own = __builtin_convertvector(kept << shift, lane_bytes);
  *bytes = shift == 0 ? own : *bytes | own;
}

/// The bits of the registers from column `at` on, from the lowest one up.
GRAPHMILL_INLINE sign_lanes kept_signs(const edge_relu& task, std::int64_t e,
                                       std::int64_t at) {
  const lane_bytes bytes =
    *reinterpret_cast<const loose_bytes*>(signs_at(task, e, at));
  return __builtin_convertvector(bytes, sign_lanes) >> shift_at(at);
}

/// Columns of one row of the output. All its edges are gone through for some
/// columns before the next, so that sums stay in registers.
struct relu_row {
  const edge_relu& task;
  std::int64_t i;
  float* out;

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    const auto features = task.weight.rows - 1;
    const auto* bias = task.weight.row(features) + at;
    floats sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sums[v] =
        place.get(task.x.row(i) + at + v * simd::width) * spread(task.self);
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const auto* x = task.x.row(task.columns[e]) + at;
      const auto* feature = task.features.row(e);
      floats row[Vectors];
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        row[v] = place.get(x + v * simd::width) + load(bias + v * simd::width);
      for (std::int64_t f = 0; f < features; ++f) {
        const auto* weight = task.weight.row(f) + at;
        const auto one = spread(feature[f]);
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v)
          row[v] = simd::fused(one, load(weight + v * simd::width), row[v]);
      }
      const auto value = spread(value_of_edge(task, e));
      sign_lanes kept = {};
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const sign_lanes positive = row[v] > floats{};
        kept |= positive & (1 << v);
        sums[v] = simd::fused(value, positive ? row[v] : floats{}, sums[v]);
      }
      if (task.signs != nullptr)
        keep_signs(task, e, at, kept);
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      place.put(sums[v], out + at + v * simd::width);
  }
};

/// Columns of one row of the gradient of x.
struct relu_source {
  const edge_relu& task;
  const transposed_edges& back;
  const_matrix gradient;
  std::int64_t j;
  float* out;

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    floats sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sums[v] = place.get(out + at + v * simd::width);
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      const auto e = back.positions[t];
      const auto* upstream = gradient.row(back.columns[t]) + at;
      const auto kept = kept_signs(task, e, at);
      const auto value = spread(value_of_edge(task, e));
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        sums[v] += (kept & (1 << v)) != 0
                     ? place.get(upstream + v * simd::width) * value
                     : floats{};
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      place.put(sums[v], out + at + v * simd::width);
  }
};

template <class Row>
GRAPHMILL_INLINE void all_columns(const Row& row, std::int64_t width) {
  std::int64_t at = 0;
  for (; at + 8 * simd::width <= width; at += 8 * simd::width)
    row.template columns<8, false>(at);
  if (at + 4 * simd::width <= width) {
    row.template columns<4, false>(at);
    at += 4 * simd::width;
  }
  if (at + 2 * simd::width <= width) {
    row.template columns<2, false>(at);
    at += 2 * simd::width;
  }
  if (at + simd::width <= width) {
    row.template columns<1, false>(at);
    at += simd::width;
  }
  if (at < width)
    row.template columns<1, true>(at);
}

/// A register of columns of the gradients of E and b, for some rows.
struct relu_weights {
  const edge_relu& task;
  const_matrix gradient;
  std::int64_t begin, end;
  std::int64_t at;
  matrix sums;

  /// For `Features` features from the first one on, and b.
  template <int Features, bool Bias, bool Partial>
  GRAPHMILL_INLINE void add(std::int64_t first) const {
    const columns_at<Partial> place{static_cast<int>(task.x.columns - at)};
    floats of[Features];
#pragma GCC unroll 8
    for (int f = 0; f < Features; ++f)
      of[f] = load(sums.row(first + f) + at);
    auto* bias = sums.row(sums.rows - 1) + at;
    auto of_bias = load(bias);
    for (auto i = begin; i < end; ++i) {
      const auto upstream = place.get(gradient.row(i) + at);
      for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
        const auto* feature = task.features.row(e) + first;
        const auto change = (kept_signs(task, e, at) & 1) != 0
                              ? upstream * spread(value_of_edge(task, e))
                              : floats{};
#pragma GCC unroll 8
        for (int f = 0; f < Features; ++f)
          of[f] = simd::fused(spread(feature[f]), change, of[f]);
        if constexpr (Bias)
          of_bias += change;
      }
    }
#pragma GCC unroll 8
    for (int f = 0; f < Features; ++f)
      store(of[f], sums.row(first + f) + at);
    if constexpr (Bias)
      store(of_bias, bias);
  }

  template <bool Partial>
  GRAPHMILL_INLINE void add_all() const {
    const auto features = sums.rows - 1;
    std::int64_t f = 0;
    for (; f + 8 <= features; f += 8)
      if (f == 0)
        add<8, true, Partial>(f);
      else
        add<8, false, Partial>(f);
    for (; f < features; ++f)
      if (f == 0)
        add<1, true, Partial>(f);
      else
        add<1, false, Partial>(f);
  }
};

} // namespace

owned_matrix edge_relu_weight(const_matrix weight, const float* bias,
                              const std::shared_ptr<buffer_pool>& pool) {
  constexpr std::int64_t width = simd::width;
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
  // Rows whose edges stay in a core's cache for all columns.
  constexpr std::int64_t most = 64;
  const auto width = task.x.columns;
  for (auto from = begin; from < end; from += most) {
    const auto to = std::min(end, from + most);
    for (std::int64_t at = 0; at < width; at += simd::width) {
      const relu_weights part{task, gradient, from, to, at, sums};
      if (at + simd::width <= width)
        part.add_all<false>();
      else
        part.add_all<true>();
    }
  }
}

GRAPHMILL_CLONES
void edge_relu_sources_backward(const edge_relu& task,
                                const transposed_edges& back,
                                const_matrix gradient, std::int64_t begin,
                                std::int64_t end, matrix out) {
  for (auto j = begin; j < end; ++j)
    all_columns(relu_source{task, back, gradient, j, out.row(j - begin)},
                task.x.columns);
}

} // namespace graphmill
