#include "pipelines/kernels/links/link_queries.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

using simd::fused;

/// Form of the map from an end to its query.
enum class query_map { same, scaled, turned, moved };

constexpr query_map map_of(decoder_kind kind) {
  switch (kind) {
  case decoder_kind::distmult:
    return query_map::scaled;
  case decoder_kind::complex:
  case decoder_kind::rotate:
    return query_map::turned;
  case decoder_kind::transe:
    return query_map::moved;
  default:
    return query_map::same;
  }
}

/// out = x times r, or its conjugate, of `half` complex numbers each. `out` may
/// be `x`.
GRAPHMILL_INLINE void turn_by(const float* x, const float* r, float sign,
                              std::int64_t half, float* out) {
  for (std::int64_t c = 0; c < half; ++c) {
    const auto re = x[c];
    const auto im = x[c + half];
    const auto r_im = sign * r[c + half];
    out[c] = fused(re, r[c], -(im * r_im));
    out[c + half] = fused(re, r_im, im * r[c]);
  }
}

GRAPHMILL_INLINE void move_by(const float* x, const float* r, float sign,
                              std::int64_t width, float* out) {
  for (std::int64_t c = 0; c < width; ++c)
    out[c] = fused(sign, r[c], x[c]);
}

GRAPHMILL_INLINE void scale_by(const float* x, const float* r,
                               std::int64_t width, float* out) {
  for (std::int64_t c = 0; c < width; ++c)
    out[c] = x[c] * r[c];
}

/// out += the gradient of r by the query x r, or of x conj(r): conj(x) g, or
/// conj(g) x.
GRAPHMILL_INLINE void add_turn_gradient(const float* x, const float* g,
                                        bool of_source, std::int64_t half,
                                        float* out) {
  const auto* conjugate = of_source ? x : g;
  const auto* other = of_source ? g : x;
  for (std::int64_t c = 0; c < half; ++c) {
    const auto re = conjugate[c];
    const auto im = conjugate[c + half];
    out[c] += fused(re, other[c], im * other[c + half]);
    out[c + half] += fused(re, other[c + half], -(im * other[c]));
  }
}

} // namespace

GRAPHMILL_CLONES
void make_queries(const link_queries& task, std::int64_t begin,
                  std::int64_t end, matrix out) {
  const auto width = out.columns;
  const auto map = map_of(task.kind);
  const auto sign = task.side == query_side::source ? 1.0f : -1.0f;
  for (auto i = begin; i < end; ++i) {
    const auto* x = task.nodes.row(task.ends[static_cast<std::size_t>(i)]);
    if (map == query_map::same) {
      std::copy_n(x, width, out.row(i));
      continue;
    }
    const auto* r =
      task.relations.row(task.relation_of[static_cast<std::size_t>(i)]);
    if (map == query_map::scaled)
      scale_by(x, r, width, out.row(i));
    else if (map == query_map::turned)
      turn_by(x, r, sign, width / 2, out.row(i));
    else
      move_by(x, r, sign, width, out.row(i));
  }
}

GRAPHMILL_CLONES
void add_relation_gradients(const link_queries& task, const_matrix gradient,
                            matrix out) {
  const auto width = gradient.columns;
  const auto map = map_of(task.kind);
  const auto of_source = task.side == query_side::source;
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto* x = task.nodes.row(task.ends[at]);
    const auto* g = gradient.row(i);
    auto* sum = out.row(task.relation_of[at]);
    if (map == query_map::scaled)
      for (std::int64_t c = 0; c < width; ++c)
        sum[c] = fused(x[c], g[c], sum[c]);
    else if (map == query_map::turned)
      add_turn_gradient(x, g, of_source, width / 2, sum);
    else if (map == query_map::moved)
      move_by(sum, g, of_source ? 1.0f : -1.0f, width, sum);
  }
}

GRAPHMILL_CLONES
void end_gradients(const link_queries& task, std::int64_t begin,
                   std::int64_t end, matrix gradient) {
  const auto width = gradient.columns;
  const auto map = map_of(task.kind);
  if (map == query_map::same || map == query_map::moved)
    return; // They are the same.
  for (auto i = begin; i < end; ++i) {
    const auto* r =
      task.relations.row(task.relation_of[static_cast<std::size_t>(i)]);
    auto* g = gradient.row(i);
    if (map == query_map::scaled)
      scale_by(g, r, width, g);
    else // By the conjugate of what the end was multiplied by.
      turn_by(g, r, task.side == query_side::source ? -1.0f : 1.0f, width / 2,
              g);
  }
}

void turn_angles(const_matrix angles, matrix out) {
  const auto half = angles.columns;
  for (std::int64_t i = 0; i < angles.rows; ++i)
    for (std::int64_t c = 0; c < half; ++c) {
      const double angle = angles.row(i)[c];
      out.row(i)[c] = static_cast<float>(std::cos(angle));
      out.row(i)[c + half] = static_cast<float>(std::sin(angle));
    }
}

void add_angle_gradients(const_matrix turned, const_matrix gradient,
                         matrix out) {
  const auto half = out.columns;
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t c = 0; c < half; ++c)
      out.row(i)[c] += gradient.row(i)[c + half] * turned.row(i)[c]
                       - gradient.row(i)[c] * turned.row(i)[c + half];
}

void normalise_rows(const_matrix x, std::int64_t begin, std::int64_t end,
                    matrix out, float* inverse) {
  for (auto i = begin; i < end; ++i) {
    double squares = 0;
    for (std::int64_t c = 0; c < x.columns; ++c)
      squares += double(x.row(i)[c]) * x.row(i)[c];
    inverse[i] =
      squares == 0 ? 0.0f : static_cast<float>(1 / std::sqrt(squares));
    for (std::int64_t c = 0; c < x.columns; ++c)
      out.row(i)[c] = x.row(i)[c] * inverse[i];
  }
}

void normalised_gradients(const_matrix normalised, const float* inverse,
                          std::int64_t begin, std::int64_t end,
                          matrix gradient) {
  for (auto i = begin; i < end; ++i) {
    const auto* y = normalised.row(i);
    auto* g = gradient.row(i);
    double along = 0;
    for (std::int64_t c = 0; c < gradient.columns; ++c)
      along += double(y[c]) * g[c];
    for (std::int64_t c = 0; c < gradient.columns; ++c)
      g[c] = static_cast<float>((g[c] - along * y[c]) * inverse[i]);
  }
}

} // namespace graphmill
