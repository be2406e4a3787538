#include "pipelines/kernels/age_columns.hpp"

#include "pipelines/kernels/simd.hpp"

#include <cmath>
#include <numbers>

namespace graphmill {

namespace {

using doubles = double __attribute__((vector_size(64)));
constexpr std::int64_t doubles_width = 8;

GRAPHMILL_INLINE doubles spread_out(double x) {
  return x - doubles{};
}

/// Eight doubles at any address.
GRAPHMILL_INLINE doubles eight_at(const double* from) {
  doubles out;
  __builtin_memcpy(&out, from, sizeof out);
  return out;
}
GRAPHMILL_INLINE void put_eight(doubles x, double* to) {
  __builtin_memcpy(to, &x, sizeof x);
}

/// cos(2 pi turns), with an error below 1e-11. Adding and taking off a large
/// number rounds to a whole one, which no call of a library has to do.
GRAPHMILL_INLINE doubles cosine(doubles turns) {
  constexpr auto pi = std::numbers::pi;
  const auto large = spread_out(0x1.8p52);
  const doubles rest = turns - ((turns + large) - large);
  const doubles size = rest < 0 ? -rest : rest;
  // Beyond 2^51 turns there is no fraction, and this is not the rest of one.
  const doubles part = size > 0.5 ? spread_out(0.5) : size;
  const doubles y = 2 * pi * (0.25 - part); // At most a quarter of a turn.
  const doubles z = y * y;
  constexpr double terms[] = {
    -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
    -1.0 / 5040,          1.0 / 120,        -1.0 / 6,        1};
  auto sum = spread_out(terms[0]);
#pragma GCC unroll 8
  for (int t = 1; t < 8; ++t)
    sum = sum * z + terms[t];
  return sum * y;
}

constexpr auto turns_of_angle = 0.5 / std::numbers::pi;

/// Of one edge, `count` of eight columns.
GRAPHMILL_INLINE void write_cosines(doubles angles, std::int64_t count,
                                    float* out) {
  const auto values = cosine(angles * turns_of_angle);
  for (std::int64_t k = 0; k < count; ++k)
    out[k] = static_cast<float>(values[k]);
}

/// Of eight columns, of which there are `count`.
struct column_sums {
  const double* frequencies;
  const double* phases;
  double* of_frequencies;
  double* of_phases;

  GRAPHMILL_INLINE void add(double x, const float* upstream,
                            std::int64_t count) const {
    doubles gradient = {};
    for (std::int64_t k = 0; k < count; ++k)
      gradient[k] = static_cast<double>(upstream[k]);
    const doubles angles = eight_at(frequencies) * x;
    const auto sines =
      cosine((angles + eight_at(phases)) * turns_of_angle - 0.25);
    const doubles change = -sines * gradient;
    put_eight(eight_at(of_frequencies) + change * angles, of_frequencies);
    put_eight(eight_at(of_phases) + change, of_phases);
  }
};

} // namespace

age_columns::age_columns(const float* ages, double scale,
                         const_matrix log_frequencies, const_matrix phases)
  : age_columns(ages, scale) {
  width_ = phases.columns;
  const auto lanes = static_cast<std::size_t>((width_ + doubles_width - 1)
                                              / doubles_width * doubles_width);
  frequencies_.resize(lanes);
  phases_.resize(lanes);
  for (std::int64_t k = 0; k < width_; ++k) {
    const auto place = static_cast<std::size_t>(k);
    frequencies_[place] =
      std::exp(static_cast<double>(log_frequencies.data[k]));
    phases_[place] = static_cast<double>(phases.data[k]);
  }
}

GRAPHMILL_CLONES
void age_columns::run(std::int64_t begin, std::int64_t end, std::int64_t first,
                      matrix out) const {
  for (auto e = begin; e < end; ++e) {
    const auto x = scale_ * static_cast<double>(ages_[e]);
    auto* to = out.row(e) + first;
    if (frequencies_.empty())
      *to = static_cast<float>(std::log(1 + x));
    for (std::int64_t k = 0; k < lanes(); k += doubles_width) {
      const doubles angles =
        eight_at(&frequencies_[static_cast<std::size_t>(k)]) * x
        + eight_at(&phases_[static_cast<std::size_t>(k)]);
      if (k + doubles_width <= width_)
        write_cosines(angles, doubles_width, to + k);
      else
        write_cosines(angles, width_ - k, to + k);
    }
  }
}

GRAPHMILL_CLONES
void age_columns::backward(const_matrix gradient, std::int64_t begin,
                           std::int64_t end, double* sums) const {
  for (auto e = begin; e < end; ++e) {
    const auto x = scale_ * static_cast<double>(ages_[e]);
    const auto* upstream = gradient.row(e);
    for (std::int64_t k = 0; k < lanes(); k += doubles_width) {
      const column_sums columns{&frequencies_[static_cast<std::size_t>(k)],
                                &phases_[static_cast<std::size_t>(k)], sums + k,
                                sums + lanes() + k};
      if (k + doubles_width <= width_)
        columns.add(x, upstream + k, doubles_width);
      else
        columns.add(x, upstream + k, width_ - k);
    }
  }
}

} // namespace graphmill
