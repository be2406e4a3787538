#include "pipelines/kernels/links/link_scores.hpp"

#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

using simd::floats;

GRAPHMILL_INLINE floats absolute_of(floats x) {
  floats out;
  for (int i = 0; i < simd::width; ++i)
    out[i] = __builtin_fabsf(x[i]);
  return out;
}

GRAPHMILL_INLINE floats root_of(floats x) {
  floats out;
  for (int i = 0; i < simd::width; ++i)
    out[i] = __builtin_sqrtf(x[i]);
  return out;
}

/// Adds up lanes in pairs, always in the same order.
GRAPHMILL_INLINE float lanes_of(floats x) {
  float sums[simd::width];
  for (int i = 0; i < simd::width; ++i)
    sums[i] = x[i];
  for (int half = simd::width / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      sums[i] += sums[i + half];
  return sums[0];
}

/// The first `count` elements, and zeros.
GRAPHMILL_INLINE floats load_some(const float* from, std::int64_t count) {
  floats out = {};
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = from[i];
  return out;
}

GRAPHMILL_INLINE floats load_up_to(const float* from, std::int64_t count) {
  return count >= simd::width ? simd::load<floats>(from)
                              : load_some(from, count);
}

/// `sum` and the terms of sixteen columns.
template <comparison How>
GRAPHMILL_INLINE floats add_terms(floats a, floats b, floats sum) {
  if constexpr (How == comparison::product) {
    return simd::fused(a, b, sum);
  } else {
    const floats d = a - b;
    if constexpr (How == comparison::absolute)
      return sum + absolute_of(d);
    else
      return simd::fused(d, d, sum);
  }
}

template <comparison How>
GRAPHMILL_INLINE float score_of(const float* a, const float* b,
                                std::int64_t width) {
  floats sums[2] = {};
  std::int64_t at = 0;
  if constexpr (How == comparison::modulus) {
    const auto half = width / 2;
    for (; at < half; at += simd::width) {
      const auto rest = half - at;
      const floats re = load_up_to(a + at, rest) - load_up_to(b + at, rest);
      const floats im =
        load_up_to(a + half + at, rest) - load_up_to(b + half + at, rest);
      sums[0] += root_of(simd::fused(re, re, im * im));
    }
    return -lanes_of(sums[0]);
  } else {
    for (; at + 2 * simd::width <= width; at += 2 * simd::width)
      for (int v = 0; v < 2; ++v)
        sums[v] =
          add_terms<How>(simd::load<floats>(a + at + v * simd::width),
                         simd::load<floats>(b + at + v * simd::width), sums[v]);
    for (; at < width; at += simd::width)
      sums[0] = add_terms<How>(load_up_to(a + at, width - at),
                               load_up_to(b + at, width - at), sums[0]);
    const auto sum = lanes_of(sums[0] + sums[1]);
    if constexpr (How == comparison::product)
      return sum;
    else if constexpr (How == comparison::euclidean)
      return -__builtin_sqrtf(sum);
    else
      return -sum;
  }
}

GRAPHMILL_INLINE void fetch_candidate(const float* row, std::int64_t width) {
  for (std::int64_t c = 0; c < width; c += 16)
    __builtin_prefetch(row + c, 0, 2);
}

/// Rows of candidates are asked for so many elements before they are used.
constexpr std::int64_t rows_ahead = 6;

template <comparison How>
GRAPHMILL_INLINE void score_all_lists(const list_scores& task,
                                      std::int64_t begin, std::int64_t end,
                                      const matrix& out) {
  const auto width = task.a.columns;
  for (auto i = begin; i < end; ++i) {
    const auto* list = task.lists + i * task.stride;
    for (auto k = task.first; k < task.last; ++k) {
      if (k + rows_ahead < task.last
          && list[k + rows_ahead] != seed_batch::none)
        fetch_candidate(task.b.row(list[k + rows_ahead]), width);
      out.row(i)[k] =
        list[k] == seed_batch::none
          ? no_score
          : score_of<How>(task.a.row(i), task.b.row(list[k]), width);
    }
  }
}

template <comparison How>
GRAPHMILL_INLINE void score_all(const const_matrix& a, const const_matrix& b,
                                std::int64_t begin, std::int64_t end,
                                const matrix& out) {
  // Rows of b stay in the cache for some rows of a.
  constexpr std::int64_t block = 64;
  for (std::int64_t from = 0; from < b.rows; from += block)
    for (auto i = begin; i < end; ++i)
      for (auto j = from; j < std::min(from + block, b.rows); ++j)
        out.row(i)[j] = score_of<How>(a.row(i), b.row(j), a.columns);
}

GRAPHMILL_INLINE float slope_sign(float x) {
  return x > 0 ? 1.0f : x < 0 ? -1.0f : x; // What is no number stays it.
}

/// out += weight * the derivative of score(a, b) by a.
template <comparison How>
GRAPHMILL_INLINE void add_gradient(const float* a, const float* b, float weight,
                                   std::int64_t width, float* out) {
  if constexpr (How == comparison::product) {
    for (std::int64_t c = 0; c < width; ++c)
      out[c] = simd::fused(weight, b[c], out[c]);
  } else if constexpr (How == comparison::absolute) {
    for (std::int64_t c = 0; c < width; ++c)
      out[c] -= weight * slope_sign(a[c] - b[c]);
  } else if constexpr (How == comparison::euclidean) {
    const auto length = -score_of<How>(a, b, width);
    const auto factor = length == 0 ? 0.0f : -weight / length;
    for (std::int64_t c = 0; c < width; ++c)
      out[c] = simd::fused(factor, a[c] - b[c], out[c]);
  } else {
    const auto half = width / 2;
    for (std::int64_t c = 0; c < half; ++c) {
      const auto re = a[c] - b[c];
      const auto im = a[c + half] - b[c + half];
      const auto length = __builtin_sqrtf(simd::fused(re, re, im * im));
      const auto factor = length == 0 ? 0.0f : -weight / length;
      out[c] = simd::fused(factor, re, out[c]);
      out[c + half] = simd::fused(factor, im, out[c + half]);
    }
  }
}

template <comparison How>
GRAPHMILL_INLINE void add_list_gradients(const comparison_gradients& task,
                                         std::int64_t begin, std::int64_t end,
                                         const matrix& out) {
  const auto width = task.b.columns;
  for (auto i = begin; i < end; ++i) {
    const auto turned = task.indptr != nullptr;
    const auto from = turned ? task.indptr[i] : i * task.stride + task.first;
    const auto count =
      turned ? task.indptr[i + 1] - from : task.last - task.first;
    const auto* columns = task.columns + from;
    const auto* weights =
      task.weights + (turned ? from : i * task.weight_stride + task.first);
    const auto* a = How == comparison::product ? nullptr : task.a.row(i);
    for (std::int64_t e = 0; e < count; ++e) {
      if (e + rows_ahead < count && columns[e + rows_ahead] != seed_batch::none)
        fetch_candidate(task.b.row(columns[e + rows_ahead]), width);
      if (columns[e] != seed_batch::none)
        add_gradient<How>(a, task.b.row(columns[e]), weights[e], width,
                          out.row(i));
    }
  }
}

template <comparison How>
GRAPHMILL_INLINE void
add_gradients_of_all(const const_matrix& a, const const_matrix& b,
                     const const_matrix& weights, bool by_column,
                     std::int64_t begin, std::int64_t end, const matrix& out) {
  for (auto i = begin; i < end; ++i)
    for (std::int64_t j = 0; j < b.rows; ++j)
      add_gradient<How>(a.row(i), b.row(j),
                        by_column ? weights.row(j)[i] : weights.row(i)[j],
                        a.columns, out.row(i));
}

} // namespace

comparison comparison_of(decoder_kind kind, std::uint32_t norm) {
  switch (kind) {
  case decoder_kind::transe:
    return norm == 2 ? comparison::euclidean : comparison::absolute;
  case decoder_kind::rotate:
    return comparison::modulus;
  default:
    return comparison::product;
  }
}

GRAPHMILL_CLONES
void score_lists(const list_scores& task, std::int64_t begin, std::int64_t end,
                 matrix out) {
  switch (task.how) {
  case comparison::product:
    return score_all_lists<comparison::product>(task, begin, end, out);
  case comparison::absolute:
    return score_all_lists<comparison::absolute>(task, begin, end, out);
  case comparison::euclidean:
    return score_all_lists<comparison::euclidean>(task, begin, end, out);
  case comparison::modulus:
    return score_all_lists<comparison::modulus>(task, begin, end, out);
  }
}

GRAPHMILL_CLONES
void compare_all(comparison how, const_matrix a, const_matrix b,
                 std::int64_t begin, std::int64_t end, matrix out) {
  switch (how) {
  case comparison::product:
    return score_all<comparison::product>(a, b, begin, end, out);
  case comparison::absolute:
    return score_all<comparison::absolute>(a, b, begin, end, out);
  case comparison::euclidean:
    return score_all<comparison::euclidean>(a, b, begin, end, out);
  case comparison::modulus:
    return score_all<comparison::modulus>(a, b, begin, end, out);
  }
}

GRAPHMILL_CLONES
void add_gradients(const comparison_gradients& task, std::int64_t begin,
                   std::int64_t end, matrix out) {
  switch (task.how) {
  case comparison::product:
    return add_list_gradients<comparison::product>(task, begin, end, out);
  case comparison::absolute:
    return add_list_gradients<comparison::absolute>(task, begin, end, out);
  case comparison::euclidean:
    return add_list_gradients<comparison::euclidean>(task, begin, end, out);
  case comparison::modulus:
    return add_list_gradients<comparison::modulus>(task, begin, end, out);
  }
}

GRAPHMILL_CLONES
void add_all_gradients(comparison how, const_matrix a, const_matrix b,
                       const_matrix weights, bool by_column, std::int64_t begin,
                       std::int64_t end, matrix out) {
  switch (how) {
  case comparison::product:
    return add_gradients_of_all<comparison::product>(a, b, weights, by_column,
                                                     begin, end, out);
  case comparison::absolute:
    return add_gradients_of_all<comparison::absolute>(a, b, weights, by_column,
                                                      begin, end, out);
  case comparison::euclidean:
    return add_gradients_of_all<comparison::euclidean>(a, b, weights, by_column,
                                                       begin, end, out);
  case comparison::modulus:
    return add_gradients_of_all<comparison::modulus>(a, b, weights, by_column,
                                                     begin, end, out);
  }
}

void turn_lists(std::span<const local_id> lists, std::int64_t stride,
                std::int64_t first, std::int64_t last, const_matrix weights,
                std::int64_t nodes, turned_lists& out) {
  const auto rows = stride == 0 ? 0 : std::ssize(lists) / stride;
  const auto for_each = [&](auto&& f) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (auto k = first; k < last; ++k)
        if (const auto node = lists[static_cast<std::size_t>(i * stride + k)];
            node != seed_batch::none)
          f(i, k, static_cast<std::size_t>(node));
  };
  out.indptr.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for_each([&](std::int64_t, std::int64_t, std::size_t node) {
    ++out.indptr[node + 1];
  });
  for (std::size_t n = 1; n < out.indptr.size(); ++n)
    out.indptr[n] += out.indptr[n - 1];
  out.rows.resize(static_cast<std::size_t>(out.indptr.back()));
  out.weights.resize(out.rows.size());
  auto next = out.indptr;
  for_each([&](std::int64_t i, std::int64_t k, std::size_t node) {
    const auto at = static_cast<std::size_t>(next[node]++);
    out.rows[at] = static_cast<local_id>(i);
    out.weights[at] = weights.row(i)[k];
  });
}

} // namespace graphmill
