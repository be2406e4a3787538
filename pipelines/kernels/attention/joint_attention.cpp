#include "pipelines/kernels/attention/joint_attention.hpp"

#include "pipelines/kernels/attention/attention_rows.hpp"
#include "pipelines/kernels/octets.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

namespace {

using octets::columns_at;
using octets::octet;
using octets::sign_lanes;
using octets::spread;

/// Scores that are summed side by side: the order of a sum is fixed, so that
/// each of its additions waits for the one before.
constexpr int scores_at_once = 8;
/// Columns that their terms are made of at a time.
constexpr std::int64_t columns_at_once = 64;

/// What one head scores row i and source row j by.
struct scored_row {
  const float* y = nullptr;    ///< Row i of the destinations.
  const float* z = nullptr;    ///< Row j of the sources.
  const float* edge = nullptr; ///< What the edge brings, or null.

  GRAPHMILL_INLINE void write_leaky(std::int64_t count, float* out) const {
    if (edge == nullptr)
      for (std::int64_t c = 0; c < count; ++c)
        out[c] = attention_rows::leaky(y[c] + z[c]);
    else
      for (std::int64_t c = 0; c < count; ++c)
        out[c] = attention_rows::leaky(y[c] + z[c] + edge[c]);
  }

  GRAPHMILL_INLINE scored_row from(std::int64_t c) const {
    return {y + c, z + c, edge == nullptr ? nullptr : edge + c};
  }

  template <bool Partial>
  GRAPHMILL_INLINE octet sum(columns_at<Partial> place, std::int64_t c) const {
    const auto ends = place.get(y + c) + place.get(z + c);
    return edge == nullptr ? ends : ends + place.get(edge + c);
  }
};

/// Row i by itself.
GRAPHMILL_INLINE scored_row own_row(const joint_attention& task,
                                    std::int64_t i) {
  return {task.y.row(i), task.base.z.row(i)};
}

/// Row i by the source of edge e.
GRAPHMILL_INLINE scored_row row_of_edge(const joint_attention& task,
                                        std::int64_t i, std::int64_t e) {
  const auto& base = task.base;
  return {task.y.row(i), base.z.row(base.columns[e]),
          base.edges.data == nullptr ? nullptr : base.edges.row(e)};
}

/// Writes the scores of row i with itself and by its edges, in one head.
/// @param self Receives the former. @returns the largest one.
GRAPHMILL_INLINE float write_scores(const joint_attention& task, std::int64_t i,
                                    std::int64_t h, float& self) {
  const auto& base = task.base;
  const auto width = base.z.columns / base.heads;
  const auto last = base.indptr[i + 1];
  auto largest = attention_rows::no_score;
  float terms[scores_at_once][columns_at_once] = {};
  // The score with itself comes first, as if an edge led to it.
  for (auto first = base.indptr[i] - 1; first < last; first += scores_at_once) {
    const auto count =
      static_cast<int>(std::min<std::int64_t>(last - first, scores_at_once));
    float sums[scores_at_once] = {};
    for (std::int64_t at = 0; at < width; at += columns_at_once) {
      const auto columns = std::min(width - at, columns_at_once);
      for (int k = 0; k < count; ++k) {
        const auto row = first + k < base.indptr[i]
                           ? own_row(task, i)
                           : row_of_edge(task, i, first + k);
        row.from(h * width + at).write_leaky(columns, terms[k]);
      }
      const auto* vector = task.vector + h * width + at;
      for (std::int64_t c = 0; c < columns; ++c)
#pragma GCC unroll 8
        for (int k = 0; k < scores_at_once; ++k)
          sums[k] = simd::fused(vector[c], terms[k][c], sums[k]);
    }
    for (int k = 0; k < count; ++k) {
      const auto e = first + k;
      const auto own = e < base.indptr[i];
      auto& score = own ? self : base.weights[e * base.heads + h];
      score = own ? sums[k] : sums[k] + base.log_weight(e);
      largest = std::max(largest, score);
    }
  }
  return largest;
}

/// Visits the columns of a head by registers.
template <class Visitor>
GRAPHMILL_INLINE void by_octets(std::int64_t width, Visitor visitor) {
  std::int64_t c = 0;
  for (; c + simd::octet_width <= width; c += simd::octet_width)
    visitor.visit(columns_at<false>{}, c);
  if (c < width)
    visitor.visit(columns_at<true>{static_cast<int>(width - c)}, c);
}

/// What a score's gradient is passed on with, where its sum is above 0 and
/// where it is not.
struct leaning {
  explicit GRAPHMILL_INLINE leaning(float change)
    : above(spread(change)), below(spread(change * attention_rows::slope)) {}
  octet above, below;

  GRAPHMILL_INLINE octet by(sign_lanes positive) const {
    return positive ? above : below;
  }
};

/// Writes the signs of an edge, register after register.
struct sign_writer {
  std::uint8_t* row;
  std::int64_t at = 0;
  sign_lanes kept = {};

  GRAPHMILL_INLINE void add(sign_lanes positive) {
    const auto shift = static_cast<int>(at % octets::sign_group);
    kept |= positive & (1 << shift);
    if (++at % octets::sign_group == 0)
      flush();
  }
  GRAPHMILL_INLINE void flush() {
    octets::put_signs(kept, row, at - 1);
    kept = sign_lanes{};
  }
  GRAPHMILL_INLINE void end() {
    if (at % octets::sign_group != 0)
      flush();
  }
};

/// Reads them in the same order.
struct sign_reader {
  const std::uint8_t* row;
  std::int64_t at = 0;
  sign_lanes kept = {};

  GRAPHMILL_INLINE sign_lanes next() {
    const auto shift = static_cast<int>(at % octets::sign_group);
    if (shift == 0)
      kept = octets::signs_at(row, at);
    ++at;
    return (kept & (1 << shift)) != 0;
  }
};

/// Backward of one score within a head.
struct score_backward {
  scored_row row;
  const float* vector;
  leaning lean;
  float* of_y;
  float* of_vector;

  /// Adds what y and the vector have. @returns what z and the edge have.
  template <bool Partial>
  GRAPHMILL_INLINE octet add(columns_at<Partial> place, std::int64_t c,
                             octet sum, sign_lanes positive) const {
    const auto change = lean.by(positive);
    const auto along = place.get(vector + c);
    const auto leaky = positive ? sum : sum * attention_rows::slope;
    place.put(simd::fused(change, along, place.get(of_y + c)), of_y + c);
    place.put(simd::fused(lean.above, leaky, place.get(of_vector + c)),
              of_vector + c);
    return change * along;
  }

  /// Of a row with itself.
  template <bool Partial>
  GRAPHMILL_INLINE void visit(columns_at<Partial> place, std::int64_t c) const {
    const auto sum = row.sum(place, c);
    add(place, c, sum, sum > octet{});
  }
};

/// @param change The gradient of the score of row i.
GRAPHMILL_INLINE score_backward of_score(const joint_attention& task,
                                         scored_row row, float change,
                                         std::int64_t i, std::int64_t h,
                                         const joint_gradients& out) {
  const auto at = h * (task.base.z.columns / task.base.heads);
  return {row.from(at), task.vector + at, leaning{change}, out.y.row(i) + at,
          out.vector + at};
}

/// The same by an edge.
struct edge_backward {
  score_backward base;
  octet share;           ///< What is summed with.
  const float* upstream; ///< The gradient of the output.
  float* of_edge;        ///< Null: the edge brings nothing.
  sign_writer& signs;

  template <bool Partial>
  GRAPHMILL_INLINE void visit(columns_at<Partial> place, std::int64_t c) const {
    const auto sum = base.row.sum(place, c);
    const sign_lanes positive = sum > octet{};
    const auto change = base.add(place, c, sum, positive);
    if (of_edge != nullptr)
      place.put(simd::fused(share, place.get(upstream + c), change),
                of_edge + c);
    signs.add(positive);
  }
};

/// What a source has of the gradient of one head, by one edge.
struct source_backward {
  const float* vector;
  leaning lean;
  octet share;
  const float* upstream; ///< Null: what is summed has been added.
  sign_reader& signs;
  float* out;

  template <bool Partial>
  GRAPHMILL_INLINE void visit(columns_at<Partial> place, std::int64_t c) const {
    auto sum = place.get(out + c);
    if (upstream != nullptr)
      sum = simd::fused(share, place.get(upstream + c), sum);
    place.put(simd::fused(lean.by(signs.next()), place.get(vector + c), sum),
              out + c);
  }
};

/// Asks for what edges some edges behind number t have for a source.
GRAPHMILL_INLINE void prefetch_edge(const joint_attention& task,
                                    const transposed_edges& back,
                                    const joint_gradients& known,
                                    const_matrix gradient, std::int64_t bytes,
                                    std::int64_t t, std::int64_t end) {
  const auto heads = task.base.heads;
  const auto ahead = t + prefetch_distance(gradient.columns);
  if (ahead >= end)
    return;
  const auto e = back.positions[ahead];
  prefetch_row(gradient.row(back.columns[ahead]), gradient.columns);
  __builtin_prefetch(task.base.shares() + e * heads);
  __builtin_prefetch(known.scores.edges + e * heads);
  __builtin_prefetch(known.signs + e * bytes);
}

/// The same by the score of a row with itself.
struct own_backward {
  scored_row row;
  const float* vector;
  leaning lean;
  float* out;

  template <bool Partial>
  GRAPHMILL_INLINE void visit(columns_at<Partial> place, std::int64_t c) const {
    place.put(simd::fused(lean.by(row.sum(place, c) > octet{}),
                          place.get(vector + c), place.get(out + c)),
              out + c);
  }
};

GRAPHMILL_INLINE std::int64_t bytes_of_signs(std::int64_t columns,
                                             std::int64_t heads) {
  return octets::sign_bytes(heads * octets::octets_of(columns / heads));
}

} // namespace

std::int64_t joint_sign_bytes(std::int64_t columns, std::int64_t heads) {
  return bytes_of_signs(columns, heads);
}

GRAPHMILL_CLONES
void attend_jointly(const joint_attention& task, std::int64_t begin,
                    std::int64_t end, matrix out) {
  const auto& base = task.base;
  for (auto i = begin; i < end; ++i) {
    attention_rows::prefetch_sources(base, i);
    for (std::int64_t h = 0; h < base.heads; ++h) {
      float self = 0;
      const auto largest = write_scores(task, i, h, self);
      attention_rows::soften_scores(base, i, h, self, largest);
    }
    attention_rows::drop_weights(base, i);
    attention_rows::sum_row(base, i, out.row(i - begin));
  }
}

GRAPHMILL_CLONES
void attend_jointly_backward(const joint_attention& task, const_matrix gradient,
                             std::int64_t begin, std::int64_t end,
                             const joint_gradients& out) {
  const auto& base = task.base;
  const auto heads = base.heads;
  const auto width = base.z.columns / heads;
  const auto bytes = bytes_of_signs(base.z.columns, heads);
  for (auto i = begin; i < end; ++i) {
    attention_rows::prefetch_sources(base, i);
    auto* of_y = out.y.row(i);
    std::fill(of_y, of_y + out.y.columns, 0.0f);
    const auto* upstream = gradient.row(i);
    for (std::int64_t h = 0; h < heads; ++h) {
      attention_rows::unsoften(base, upstream, i, h, out.scores);
      by_octets(width, of_score(task, own_row(task, i),
                                out.scores.self[i * heads + h], i, h, out));
    }
    for (auto e = base.indptr[i]; e < base.indptr[i + 1]; ++e) {
      sign_writer signs{out.signs + e * bytes};
      auto* of_edge = out.edges.data == nullptr ? nullptr : out.edges.row(e);
      for (std::int64_t h = 0; h < heads; ++h)
        by_octets(width,
                  edge_backward{
                    of_score(task, row_of_edge(task, i, e),
                             out.scores.edges[e * heads + h], i, h, out),
                    spread(base.shares()[e * heads + h]), upstream + h * width,
                    of_edge == nullptr ? nullptr : of_edge + h * width, signs});
      signs.end();
    }
  }
}

GRAPHMILL_CLONES
void attend_jointly_sources_backward(const joint_attention& task,
                                     const transposed_edges& back,
                                     const joint_gradients& known,
                                     const_matrix gradient, std::int64_t begin,
                                     std::int64_t end, matrix out) {
  using attention_rows::add_message_gradient;
  const auto& base = task.base;
  const auto heads = base.heads;
  const auto width = base.z.columns / heads;
  const auto bytes = bytes_of_signs(base.z.columns, heads);
  const auto dropped = base.messages.data != nullptr;
  for (auto j = begin; j < end; ++j) {
    auto* row = out.row(j);
    std::fill(row, row + out.columns, 0.0f);
    for (auto t = back.indptr[j]; t < back.indptr[j + 1]; ++t) {
      prefetch_edge(task, back, known, gradient, bytes, t, back.indptr[end]);
      const auto e = back.positions[t];
      const auto* upstream = gradient.row(back.columns[t]);
      const auto* shares = base.shares() + e * heads;
      if (dropped)
        add_message_gradient(base, j, upstream, shares, row);
      sign_reader signs{known.signs + e * bytes};
      for (std::int64_t h = 0; h < heads; ++h)
        by_octets(width,
                  source_backward{task.vector + h * width,
                                  leaning{known.scores.edges[e * heads + h]},
                                  spread(shares[h]),
                                  dropped ? nullptr : upstream + h * width,
                                  signs, row + h * width});
    }
    if (j >= base.rows)
      continue;
    add_message_gradient(base, j, gradient.row(j),
                         base.self_shares() + j * heads, row);
    for (std::int64_t h = 0; h < heads; ++h)
      by_octets(width, own_backward{own_row(task, j).from(h * width),
                                    task.vector + h * width,
                                    leaning{known.scores.self[j * heads + h]},
                                    row + h * width});
  }
}

} // namespace graphmill
