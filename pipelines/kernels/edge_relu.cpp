#include "pipelines/kernels/edge_relu.hpp"

#include "pipelines/kernels/column_signs.hpp"
#include "pipelines/kernels/edge_product.hpp"
#include "pipelines/kernels/octets.hpp"
#include "pipelines/kernels/row_prefetch.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <vector>

namespace graphmill {

namespace {

// Products, signs and sums of some columns are made in registers, edge by edge.
// Loops over registers are unrolled by pragmas, for else the compiler keeps the
// sums in memory. For the same reason they call no function that is not
// inlined.

using simd::load;
using simd::octet;
using simd::spread;
using simd::store;
using simd::width_of;

/// Registers of columns that are computed at a time: there is room for their
/// sums and for the products of two edges.
template <class V>
constexpr int most_vectors = width_of<V> == simd::width ? 8 : 4;

/// Rows that are read in whole registers. The last register of a row also reads
/// what lies behind the row, and no column of a result uses that. Nothing lies
/// behind the last rows, so these are read from a copy.
struct padded_rows {
  const_matrix of;
  std::int64_t copied; ///< The first row of the copy.
  const float* copy;

  GRAPHMILL_INLINE const float* operator[](std::int64_t i) const {
    return i < copied ? of.row(i) : copy + (i - copied) * of.columns;
  }
};

/// The memory of `padded_rows`.
class last_rows {
public:
  explicit last_rows(const_matrix of) : of_(of) {
    constexpr std::int64_t behind = simd::width - 1; // As much may be read.
    const auto columns = std::max<std::int64_t>(of.columns, 1);
    first_ = std::max<std::int64_t>(of.rows - 1 - behind / columns, 0);
    copy_.resize(
      static_cast<std::size_t>((of.rows - first_) * of.columns + behind));
    std::copy(of.row(first_), of.data + of.size(), copy_.begin());
  }

  padded_rows rows() const { return {of_, first_, copy_.data()}; }

private:
  const_matrix of_;
  std::int64_t first_;
  std::vector<float> copy_;
};

/// What the sums of edges are multiplied with.
struct edge_values {
  static constexpr float one = 1;

  const float* first;
  std::int64_t step;

  GRAPHMILL_INLINE explicit edge_values(const edge_relu& task)
    : first(task.values == nullptr ? &one : task.values),
      step(task.values == nullptr ? 0 : 1) {}

  GRAPHMILL_INLINE float operator[](std::int64_t e) const {
    return first[e * step];
  }
};

GRAPHMILL_INLINE std::int64_t sign_bytes(const edge_relu& task) {
  return column_signs::bytes_of(task.x.columns);
}

/// Calls f.columns<Vectors>(at) for all columns: for `Most` registers at a
/// time, then for the rest. The last register may be partial.
template <class V, int Most, class F>
GRAPHMILL_INLINE void by_registers(const F& f, std::int64_t width) {
  constexpr std::int64_t at_once = Most * width_of<V>;
  std::int64_t at = 0;
  for (; at + at_once <= width; at += at_once)
    f.template columns<Most>(at);
  const auto rest = (width - at + width_of<V> - 1) / width_of<V>;
  if constexpr (Most == 8) {
    if (rest == 8)
      f.template columns<8>(at);
    else if (rest == 7)
      f.template columns<7>(at);
    else if (rest == 6)
      f.template columns<6>(at);
    else if (rest == 5)
      f.template columns<5>(at);
  }
  if (rest == 4)
    f.template columns<4>(at);
  else if (rest == 3)
    f.template columns<3>(at);
  else if (rest == 2)
    f.template columns<2>(at);
  else if (rest == 1)
    f.template columns<1>(at);
}

/// Rows of the output, one at a time. What its loops read is held by value, so
/// that compilers need not read it again after each store.
template <class V>
class relu_rows {
public:
  GRAPHMILL_INLINE relu_rows(const edge_relu& task, const padded_rows& x,
                             std::int64_t last)
    : task_(task), x_(x), values_(task), bytes_(sign_bytes(task)), last_(last),
      distance_(prefetch_distance(task.x.columns)) {}

  GRAPHMILL_INLINE void run(std::int64_t i, float* out) {
    i_ = i;
    out_ = out;
    by_registers<V, most_vectors<V>>(*this, task_.x.columns);
  }

  template <int Vectors>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const auto* own = x_[i_] + at;
    V sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sums[v] = task_.self * load<V>(own + v * width_of<V>);
    auto e = task_.indptr[i_];
    const auto until = task_.indptr[i_ + 1];
    for (; e + 2 <= until; e += 2)
      add<2, Vectors>(e, at, sums);
    if (e < until)
      add<1, Vectors>(e, at, sums);
    auto* out = out_ + at;
#pragma GCC unroll 8
    for (int v = 0; v + 1 < Vectors; ++v, out += width_of<V>)
      store(sums[v], out);
    const auto rest = out_ + task_.x.columns - out;
    if (rest >= width_of<V>)
      return store(sums[Vectors - 1], out);
    float all[width_of<V>];
    store(sums[Vectors - 1], all);
    std::copy_n(all, rest, out);
  }

private:
  template <int Edges, int Vectors>
  GRAPHMILL_INLINE void add(std::int64_t e, std::int64_t at, V* sums) const {
    // Rows are asked for between products, for a core can wait for few of them.
    if (at == 0)
#pragma GCC unroll 2
      for (int k = 0; k < Edges; ++k)
        if (const auto ahead = e + k + distance_; ahead < last_)
          prefetch_row<3>(task_.x.row(task_.columns[ahead]), task_.x.columns);
    const auto features = task_.features.columns;
    const auto* bias = task_.weight.row(features) + at;
    V rows[Edges][Vectors];
#pragma GCC unroll 2
    for (int k = 0; k < Edges; ++k) {
      const auto* x = x_[task_.columns[e + k]] + at;
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        rows[k][v] =
          load<V>(x + v * width_of<V>) + load<V>(bias + v * width_of<V>);
    }
    const auto* feature = task_.features.row(e);
    const auto* weight = task_.weight.data + at;
    for (std::int64_t f = 0; f < features;
         ++f, weight += task_.weight.columns) {
      V one[Edges];
#pragma GCC unroll 2
      for (int k = 0; k < Edges; ++k)
        one[k] = spread<V>(feature[k * features + f]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const auto column = simd::load_once<V>(weight + v * width_of<V>);
#pragma GCC unroll 2
        for (int k = 0; k < Edges; ++k)
          rows[k][v] = simd::fused(one[k], column, rows[k][v]);
      }
    }
#pragma GCC unroll 2
    for (int k = 0; k < Edges; ++k) {
      const auto value = spread<V>(values_[e + k]);
      column_signs::lanes<V> signs = {};
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const column_signs::lanes<V> positive = rows[k][v] > V{};
        signs |= positive & column_signs::lanes_of<V>::bits(v);
        sums[v] = simd::fused(value, positive ? rows[k][v] : V{}, sums[v]);
      }
      if (task_.signs != nullptr)
        column_signs::keep<V>(signs, task_.signs + (e + k) * bytes_, at);
    }
  }

  edge_relu task_;
  padded_rows x_;
  edge_values values_;
  std::int64_t bytes_, last_, distance_;
  std::int64_t i_ = 0;
  float* out_ = nullptr;
};

template <class V>
GRAPHMILL_INLINE void run_rows(const edge_relu& task, const padded_rows& x,
                               std::int64_t begin, std::int64_t end,
                               const matrix& out) {
  relu_rows<V> rows{task, x, task.indptr[end]};
  for (auto i = begin; i < end; ++i)
    rows.run(i, out.row(i));
}

GRAPHMILL_WIDE
void relu_wide(const edge_relu& task, const padded_rows& x, std::int64_t begin,
               std::int64_t end, const matrix& out) {
  run_rows<simd::floats>(task, x, begin, end, out);
}

GRAPHMILL_NARROW
void relu_narrow(const edge_relu& task, const padded_rows& x,
                 std::int64_t begin, std::int64_t end, const matrix& out) {
  run_rows<octet>(task, x, begin, end, out);
}

/// Edges that stay in a core's cache with all that is read of them.
constexpr std::int64_t most_edges = 256;

/// What edges [begin, end) have of the gradients of E and b.
template <class V>
struct relu_gradient {
  const edge_relu& task;
  /// [edges] The row of the gradient of each edge, times its value.
  const float* const* upstream;
  std::int64_t begin, end;
  const matrix& sums;

  /// Features [f, f + Features), and the bias if `Bias`.
  template <int Features, int Vectors, bool Bias>
  GRAPHMILL_INLINE void add(std::int64_t at, std::int64_t f) const {
    const auto features = task.features.columns;
    auto* of_bias = sums.row(features) + at;
    V all[Features + 1][Vectors], bias[Vectors];
    column_signs::lanes<V> bits[Vectors];
    const auto number =
      static_cast<int>(at % column_signs::word_columns / width_of<V>);
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      const auto left = static_cast<int>(task.x.columns - at) - v * width_of<V>;
      bits[v] = column_signs::lanes_of<V>::bits(number + v, left);
      bias[v] = load<V>(of_bias + v * width_of<V>);
#pragma GCC unroll 8
      for (int k = 0; k < Features; ++k)
        all[k][v] = load<V>(sums.row(f + k) + at + v * width_of<V>);
    }
    const auto bytes = sign_bytes(task);
    const auto* signs = column_signs::place(task.signs + begin * bytes, at);
    const auto* feature = task.features.row(begin) + f;
    for (auto e = begin; e < end; ++e, signs += bytes, feature += features) {
      const auto positive =
        column_signs::lanes_of<V>::unpack(column_signs::load(signs));
      const auto* row = upstream[e - begin] + at;
      V change[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) {
        change[v] =
          (positive & bits[v]) != 0 ? load<V>(row + v * width_of<V>) : V{};
        if constexpr (Bias)
          bias[v] += change[v];
      }
#pragma GCC unroll 8
      for (int k = 0; k < Features; ++k)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
          all[k][v] = simd::fused(spread<V>(feature[k]), change[v], all[k][v]);
    }
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      if constexpr (Bias)
        store(bias[v], of_bias + v * width_of<V>);
#pragma GCC unroll 8
      for (int k = 0; k < Features; ++k)
        store(all[k][v], sums.row(f + k) + at + v * width_of<V>);
    }
  }

  template <int Vectors>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    constexpr int most = width_of<V> == simd::width ? 8 : 4;
    const auto features = task.features.columns;
    std::int64_t f = 0;
    if (features >= most) {
      add<most, Vectors, true>(at, f);
      f += most;
    } else {
      add<0, Vectors, true>(at, f);
    }
    for (; f + most <= features; f += most)
      add<most, Vectors, false>(at, f);
    for (; f + 2 <= features; f += 2)
      add<2, Vectors, false>(at, f);
    if (f < features)
      add<1, Vectors, false>(at, f);
  }
};

template <class V>
GRAPHMILL_INLINE void sum_columns(const relu_gradient<V>& gradient) {
  by_registers<V, 2>(gradient, gradient.task.x.columns);
}

GRAPHMILL_WIDE
void relu_gradient_wide(const edge_relu& task, const float* const* upstream,
                        std::int64_t begin, std::int64_t end,
                        const matrix& sums) {
  sum_columns(relu_gradient<simd::floats>{task, upstream, begin, end, sums});
}

GRAPHMILL_NARROW
void relu_gradient_narrow(const edge_relu& task, const float* const* upstream,
                          std::int64_t begin, std::int64_t end,
                          const matrix& sums) {
  sum_columns(relu_gradient<octet>{task, upstream, begin, end, sums});
}

/// The signs of some columns of an edge, by octets from column `at` on.
struct edge_signs {
  column_signs::lanes<octet> all;
  int number;

  GRAPHMILL_INLINE edge_signs(const edge_relu& task, std::int64_t e,
                              std::int64_t at)
    : all(column_signs::lanes_of<octet>::unpack(column_signs::load(
      column_signs::place(task.signs + e * sign_bytes(task), at)))),
      number(
        static_cast<int>(at % column_signs::word_columns / simd::octet_width)) {
  }

  /// `x`, the v-th octet, with zeros in columns that were not above 0.
  GRAPHMILL_INLINE octet cut(int v, octet x) const {
    return (all & column_signs::lanes_of<octet>::bits(number + v)) != 0
             ? x
             : octet{};
  }
};

/// Columns of one row of the gradient of x.
struct relu_source {
  static constexpr int most_vectors = 8;

  const edge_relu& task;
  const transposed_edges& back;
  const_matrix gradient;
  std::int64_t j;
  bool filled; ///< It is added to what `out` has.
  float* out;

  template <int Vectors, bool Partial>
  GRAPHMILL_INLINE void columns(std::int64_t at) const {
    const octets::columns_at<Partial> place{
      static_cast<int>(task.x.columns - at)};
    const edge_values values{task};
    octet sums[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sums[v] = filled ? place.get(out + at + v * simd::octet_width) : octet{};
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      const auto e = back.positions[t];
      const auto* upstream = gradient.row(back.columns[t]) + at;
      const edge_signs signs{task, e, at};
      const auto value = spread<octet>(values[e]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        sums[v] +=
          signs.cut(v, place.get(upstream + v * simd::octet_width) * value);
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
    const octets::columns_at<Partial> place{
      static_cast<int>(task.x.columns - at)};
    const edge_values values{task};
    const auto* upstream = gradient.row(i) + at;
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      const edge_signs signs{task, e, at};
      const auto value = spread<octet>(values[e]);
      octet changes[Vectors];
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        changes[v] =
          signs.cut(v, place.get(upstream + v * simd::octet_width) * value);
      auto* out = into.row(e);
      for (std::int64_t f = 0; f < into.columns; ++f) {
        const auto* weight = task.weight.row(first + f) + at;
        octet products = {};
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v)
          products = simd::fused(
            changes[v], load<octet>(weight + v * simd::octet_width), products);
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

} // namespace

std::int64_t edge_relu_bytes(std::int64_t width) {
  return column_signs::bytes_of(width);
}

owned_matrix edge_relu_weight(const_matrix weight, const float* bias,
                              const std::shared_ptr<buffer_pool>& pool) {
  auto out = product_weight(weight, weight.rows + 1, pool);
  std::copy_n(bias, weight.columns, out.view().row(weight.rows));
  return out;
}

void run(const edge_relu& task, std::int64_t begin, std::int64_t end,
         matrix out) {
  const last_rows last{task.x};
  (simd::has_wide_registers() ? relu_wide : relu_narrow)(task, last.rows(),
                                                         begin, end, out);
}

void edge_relu_backward(const edge_relu& task, const_matrix gradient,
                        std::int64_t begin, std::int64_t end, matrix sums) {
  const auto width = gradient.columns;
  const last_rows last{gradient};
  const auto rows = last.rows();
  const auto until = task.indptr[end];
  const float* upstream[most_edges];
  const auto stride = width + simd::width;
  const auto at_once = task.values == nullptr
                         ? most_edges
                         : std::min(most_edges, product_edges(stride));
  std::vector<float> weighed(
    static_cast<std::size_t>(task.values == nullptr ? 0 : at_once * stride));
  auto i = begin;
  for (auto e = task.indptr[begin]; e < until;) {
    const auto from = e;
    const auto stop = std::min(until, from + at_once);
    while (e < stop) {
      while (task.indptr[i + 1] <= e)
        ++i;
      const auto* row = rows[i];
      prefetch_row(row, width);
      for (const auto next = std::min(stop, task.indptr[i + 1]); e < next;
           ++e) {
        const auto k = e - from;
        upstream[k] = row;
        if (task.values == nullptr)
          continue;
        upstream[k] = weighed.data() + k * stride;
        for (std::int64_t c = 0; c < width; ++c)
          weighed[k * stride + c] = row[c] * task.values[e];
      }
    }
    (simd::has_wide_registers() ? relu_gradient_wide : relu_gradient_narrow)(
      task, upstream, from, e, sums);
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
                                std::int64_t end, std::int64_t filled,
                                matrix out) {
  const auto width = task.x.columns;
  const auto last = back.indptr[end];
  const auto bytes = sign_bytes(task);
  const auto distance = prefetch_distance(width);
  for (auto j = begin; j < end; ++j) {
    const auto until = std::min(back.indptr[j + 1] + distance, last);
    for (auto t = back.indptr[j] + distance; t < until; ++t) {
      prefetch_row(gradient.row(back.columns[t]), width);
      __builtin_prefetch(task.signs + back.positions[t] * bytes);
    }
    all_columns(
      relu_source{task, back, gradient, j, j < filled, out.row(j - begin)},
      width);
  }
}

} // namespace graphmill
