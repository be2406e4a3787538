#include "pipelines/kernels/links/link_sums.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace graphmill {

namespace {

/// Eight floats. Comparisons of wider vectors are not split by compilers for
/// CPUs that have none so wide.
using eight = float __attribute__((vector_size(32)));
using eight_bits = std::uint32_t __attribute__((vector_size(32)));
using eight_counts = std::int32_t __attribute__((vector_size(32)));

constexpr int eight_lanes = 8;

GRAPHMILL_INLINE eight all_of(float x) {
  return eight{x, x, x, x, x, x, x, x};
}

GRAPHMILL_INLINE eight fused_eight(eight a, eight b, eight c) {
  eight out;
  for (int i = 0; i < eight_lanes; ++i)
    out[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return out;
}

/// A polynomial by Horner's rule, of which `p` is the value so far.
template <class... Floats>
GRAPHMILL_INLINE eight polynomial(eight x, eight p, Floats... coefficients) {
  ((p = fused_eight(p, x, all_of(coefficients))), ...);
  return p;
}

/// e^x for x <= 0. Cephes' expf: e^x = 2^k e^r, and a polynomial of the rest r,
/// which is half of log 2 at the most.
GRAPHMILL_INLINE eight exp_of(eight x) {
  constexpr float rounds = 12582912; // Adding it rounds to whole numbers.
  const eight low = all_of(-87.0f);
  x = x < low ? low : x;
  const eight shifted = fused_eight(x, all_of(1.44269504f), all_of(rounds));
  const eight k = shifted - rounds;
  const eight r = fused_eight(k, all_of(2.12194440e-4f),
                              fused_eight(k, all_of(-0.693359375f), x));
  const eight rest =
    polynomial(r, all_of(1.9875691500e-4f), 1.3981999507e-3f, 8.3334519073e-3f,
               4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f);
  const eight p = fused_eight(rest, r * r, r + 1.0f);
  return eight(eight_bits(p) + (eight_bits(shifted) << 23));
}

/// log(1 + x) for x from 0 to 1: Abramowitz and Stegun, 4.1.44.
GRAPHMILL_INLINE eight log1p_of(eight x) {
  return x
         * polynomial(x, all_of(-0.0064535442f), 0.0360884937f, -0.0953293897f,
                      0.1676540711f, -0.2407338084f, 0.3317990258f,
                      -0.4998741238f, 0.9999964239f);
}

/// e^-|x|
GRAPHMILL_INLINE eight exp_of_distance(eight x) {
  return exp_of(x > eight{} ? -x : x);
}

/// What of x is above 0.
GRAPHMILL_INLINE eight above_zero(eight x) {
  return x > eight{} ? x : eight{};
}

GRAPHMILL_INLINE double sum_of(eight x) {
  double out = 0;
  for (int i = 0; i < eight_lanes; ++i)
    out += double(x[i]);
  return out;
}

GRAPHMILL_INLINE std::int64_t count_of(eight_counts x) {
  std::int64_t out = 0;
  for (int i = 0; i < eight_lanes; ++i)
    out += x[i];
  return out;
}

/// So many scores are taken together: counts of lanes stay small, sums of
/// floats exact enough, and products of 64 numbers up to 2 finite.
constexpr std::int64_t at_once = 64 * eight_lanes;

struct block_sums {
  double terms = 0;
  double weights = 0;
};

/// The sum of -log sigmoid(-x), of all scores but `moved`. What is over 0 is
/// added up, and of the rest 1 + e^-|x| multiplied: one logarithm is enough.
GRAPHMILL_INLINE double log_losses(const float* scores, std::int64_t count,
                                   float moved) {
  eight over = {};
  eight product = all_of(1);
  for (std::int64_t i = 0; i < count; i += eight_lanes) {
    const eight x = simd::load<eight>(scores + i) - moved;
    over += above_zero(x);
    product *= 1.0f + exp_of_distance(x);
  }
  double all = 1;
  for (int i = 0; i < eight_lanes; ++i)
    all *= double(product[i]);
  return sum_of(over) + std::log(all);
}

/// Scores that do not exist give 0, or next to nothing.
template <link_loss Kind>
GRAPHMILL_INLINE block_sums terms_of(const link_loss_shape& shape, float edge,
                                     const float* scores, std::int64_t count,
                                     float top) {
  if constexpr (Kind == link_loss::bce)
    return {log_losses(scores, count, 0)};
  if constexpr (Kind == link_loss::bpr)
    return {log_losses(scores, count, edge)};
  const auto margin = static_cast<float>(shape.margin);
  const auto temperature = static_cast<float>(shape.temperature);
  eight terms = {};
  eight weights = {};
  for (std::int64_t i = 0; i < count; i += eight_lanes) {
    const eight n = simd::load<eight>(scores + i);
    if constexpr (Kind == link_loss::margin) {
      const eight short_by = n - edge + margin;
      // What is no number stays it.
      terms += short_by <= eight{} ? eight{} : short_by;
    } else if constexpr (Kind == link_loss::softmax) {
      terms += exp_of(n - top);
    } else {
      const eight x = n + margin;
      const eight weight = exp_of((n - top) * temperature);
      weights += weight;
      terms += weight * (above_zero(x) + log1p_of(exp_of_distance(x)));
    }
  }
  return {sum_of(terms), sum_of(weights)};
}

/// The largest score; what is not a number is passed over.
GRAPHMILL_INLINE float largest_of(const float* scores, std::int64_t count) {
  eight most = all_of(no_score);
  for (std::int64_t i = 0; i < count; i += eight_lanes) {
    const eight n = simd::load<eight>(scores + i);
    most = n > most ? n : most;
  }
  auto out = no_score;
  for (int i = 0; i < eight_lanes; ++i)
    out = most[i] > out ? most[i] : out;
  return out;
}

GRAPHMILL_INLINE block_sums sums_of(const link_loss_shape& shape, float edge,
                                    const float* scores, std::int64_t count,
                                    float top) {
  switch (shape.kind) {
  case link_loss::bce:
    return terms_of<link_loss::bce>(shape, edge, scores, count, top);
  case link_loss::margin:
    return terms_of<link_loss::margin>(shape, edge, scores, count, top);
  case link_loss::bpr:
    return terms_of<link_loss::bpr>(shape, edge, scores, count, top);
  case link_loss::softmax:
    return terms_of<link_loss::softmax>(shape, edge, scores, count, top);
  case link_loss::self_adversarial:
    break;
  }
  return terms_of<link_loss::self_adversarial>(shape, edge, scores, count, top);
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

} // namespace

GRAPHMILL_CLONES
std::int64_t meet_negatives(const float* scores, std::int64_t count, float edge,
                            met_negatives& out) {
  const eight none = all_of(no_score);
  const eight edges = all_of(edge);
  auto found = count;
  for (std::int64_t from = 0; from < count; from += at_once) {
    eight_counts missing = {};
    eight_counts equal = {};
    eight_counts not_greater = {};
    const auto to = std::min(count, from + at_once);
    for (auto i = from; i < to; i += eight_lanes) {
      const eight n = simd::load<eight>(scores + i);
      const eight_counts absent = n == none; // -1 where it is so.
      const eight_counts same = (n == edges) & ~absent;
      missing -= absent;
      equal -= same;
      not_greater -= (n < edges) | absent | same;
    }
    found -= count_of(missing);
    out.equal += count_of(equal);
    out.greater += to - from - count_of(not_greater);
  }
  return found;
}

GRAPHMILL_CLONES
void add_loss_terms(const link_loss_shape& shape, float edge,
                    const float* scores, std::int64_t count, std::int64_t found,
                    loss_sums& out) {
  out.count += found;
  if (found == 0)
    return;
  const auto weighed = shape.kind == link_loss::self_adversarial;
  if (weighed || shape.kind == link_loss::softmax)
    if (const auto top = largest_of(scores, count); top > out.top) {
      const auto factor = weighed ? shape.temperature : 1.0;
      const auto shrunk = std::exp(factor * (double(out.top) - top));
      out.terms *= shrunk;
      out.weights *= shrunk;
      out.top = top;
    }
  for (std::int64_t from = 0; from < count; from += at_once) {
    const auto sums = sums_of(shape, edge, scores + from,
                              std::min(count - from, at_once), out.top);
    out.terms += sums.terms;
    out.weights += sums.weights;
  }
}

double loss_of(const link_loss_shape& shape, float edge,
               const loss_sums& sums) {
  const auto count = static_cast<double>(sums.count);
  const auto mean = sums.count == 0 ? 0.0 : sums.terms / count;
  switch (shape.kind) {
  case link_loss::bce:
    return (softplus(-edge) + mean) / 2;
  case link_loss::margin:
  case link_loss::bpr:
    return mean;
  case link_loss::softmax: {
    const auto top = std::max(sums.top, edge);
    const auto rest =
      sums.count == 0 ? 0.0 : sums.terms * std::exp(double(sums.top) - top);
    return double(top) - edge + std::log(std::exp(double(edge) - top) + rest);
  }
  case link_loss::self_adversarial:
    break;
  }
  const auto weighed = sums.count == 0 ? 0.0 : sums.terms / sums.weights;
  return (softplus(-(shape.margin + edge)) + weighed) / 2;
}

} // namespace graphmill
