#include "pipelines/kernels/activation.hpp"

#include "messages/base/random_lanes.hpp"
#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// gcc 12 takes what loops over lanes fill for unset.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace graphmill {

namespace {

constexpr int lanes = random_lanes;
constexpr int group = 8 * lanes; ///< Columns that 16 blocks decide.

/// Sixteen consecutive blocks of random bits: words[w][lane].
struct word_group {
  alignas(64) lane_words words[4];
};

/// The blocks from `first_block` on, one per lane.
GRAPHMILL_INLINE void draw(const dropout& drop, std::uint64_t row,
                           std::uint32_t first_block, word_group& out) {
  auto& [c0, c1, c2, c3] = out.words;
  for (int i = 0; i < lanes; ++i) {
    c0[i] = static_cast<std::uint32_t>(row);
    c1[i] = static_cast<std::uint32_t>(row >> 32);
    c2[i] = drop.stream;
    c3[i] = first_block + static_cast<std::uint32_t>(i);
  }
  philox4x32_lanes(out.words, drop.key);
}

constexpr std::uint32_t minus_zero = 0x80000000u;

GRAPHMILL_INLINE bool was_dropped(float y) {
  return std::bit_cast<std::uint32_t>(y) == minus_zero;
}

/// `x` or 0. By bits, for a choice between floats stays a branch for fear of
/// traps, and a wrongly guessed branch costs as much as ten products.
GRAPHMILL_INLINE float keep_if(bool keep, float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x)
                              & (keep ? ~0u : 0u));
}

/// Adding +0 turns a kept -0 into +0, for -0 means dropped. By bits, as in
/// `keep_if`.
GRAPHMILL_INLINE float drop_or_scale(std::uint32_t bits,
                                     std::uint32_t threshold, float scale,
                                     float x) {
  const auto kept = std::bit_cast<std::uint32_t>(x * scale + 0.0f);
  const auto dropped = bits < threshold ? ~0u : 0u;
  return std::bit_cast<float>((kept & ~dropped) | (minus_zero & dropped));
}

/// Drops or scales sixteen values by the half words at `shift`.
GRAPHMILL_INLINE void drop_sixteen(const std::uint32_t* words, int shift,
                                   const dropout& drop, float scale,
                                   float* values) {
#pragma GCC unroll 1
  for (int i = 0; i < lanes; ++i)
    values[i] = drop_or_scale((words[i] >> shift) & 0xffffu, drop.threshold,
                              scale, values[i]);
}

/// The same for the fewer than sixteen at the end of a row.
GRAPHMILL_INLINE void drop_last(const std::uint32_t* words, int shift,
                                const dropout& drop, float scale, int count,
                                float* values) {
  float padded[lanes] = {};
  std::copy_n(values, count, padded);
  drop_sixteen(words, shift, drop, scale, padded);
  std::copy_n(padded, count, values);
}

GRAPHMILL_INLINE float shape(float x, activation kind) {
  if (kind == activation::relu)
    return x > 0 ? x : 0.0f;
  if (kind == activation::elu)
    return x > 0 ? x : std::expm1(x) + 0.0f; // Never -0: that means dropped.
  return x + 0.0f;
}

template <activation Kind>
GRAPHMILL_INLINE void shape_row(const float* x, const float* bias,
                                std::int64_t width, float* out) {
  if (bias != nullptr)
    for (std::int64_t c = 0; c < width; ++c)
      out[c] = shape(x[c] + bias[c], Kind);
  else
    for (std::int64_t c = 0; c < width; ++c)
      out[c] = shape(x[c], Kind);
}

GRAPHMILL_INLINE void drop_row(const dropout& drop, std::int64_t row,
                               std::int64_t width, float* out) {
  const auto scale = drop.scale();
  for (std::int64_t at = 0; at < width; at += group) {
    word_group drawn;
    draw(drop, static_cast<std::uint64_t>(row),
         static_cast<std::uint32_t>(at / group * lanes), drawn);
    const auto columns = std::min<std::int64_t>(group, width - at);
    for (std::int64_t c = 0; c < columns; c += lanes) {
      const auto half = static_cast<int>(c / lanes);
      const auto* words = drawn.words[half / 2];
      const auto shift = half % 2 * 16;
      auto* values = out + at + c;
      if (columns - c >= lanes)
        drop_sixteen(words, shift, drop, scale, values);
      else
        drop_last(words, shift, drop, scale, static_cast<int>(columns - c),
                  values);
    }
  }
}

/// The share of a normal distribution that lies below x.
GRAPHMILL_INLINE float share_below(float x) {
  constexpr auto root_half = 0.70710678118654752f;
  return 0.5f * (1.0f + std::erf(x * root_half));
}

template <activation Kind>
GRAPHMILL_INLINE void activate_rows(const_matrix x, const float* bias,
                                    const dropout& drop, std::int64_t begin,
                                    std::int64_t end, const matrix& out) {
  for (auto i = begin; i < end; ++i) {
    shape_row<Kind>(x.row(i), bias, x.columns, out.row(i));
    if (drop.threshold != 0)
      drop_row(drop, i, x.columns, out.row(i));
  }
}

} // namespace

std::uint32_t dropout_threshold(double probability) {
  const auto nearest = std::lround(std::clamp(probability, 0.0, 1.0) * 65536);
  return static_cast<std::uint32_t>(std::min(nearest, 65535l));
}

GRAPHMILL_CLONES
void activate(const_matrix x, const float* bias, activation kind,
              const dropout& drop, std::int64_t begin, std::int64_t end,
              matrix out) {
  switch (kind) {
  case activation::none:
    return activate_rows<activation::none>(x, bias, drop, begin, end, out);
  case activation::relu:
    return activate_rows<activation::relu>(x, bias, drop, begin, end, out);
  case activation::elu:
    return activate_rows<activation::elu>(x, bias, drop, begin, end, out);
  }
}

float dropped_out(const dropout& drop, std::uint64_t row, std::uint32_t column,
                  float x) {
  if (drop.threshold == 0)
    return x;
  const auto within = column % group;
  const auto block = column / group * lanes + within % lanes;
  const auto half = within / lanes;
  const auto words = philox4x32(counter_of(row, drop.stream, block), drop.key);
  const auto bits = words[half / 2] >> (half % 2 * 16) & 0xffffu;
  return bits < drop.threshold ? 0.0f : x * drop.scale();
}

GRAPHMILL_CLONES
void activate_backward(const_matrix y, activation kind, float scale,
                       std::int64_t begin, std::int64_t end, matrix gradient) {
  const auto first = begin * y.columns;
  const auto last = end * y.columns;
  auto* g = gradient.data;
  const auto* value = y.data;
  if (kind == activation::relu) {
    for (auto i = first; i < last; ++i)
      g[i] = keep_if(value[i] > 0, g[i] * scale);
  } else if (kind == activation::elu) {
    // The slope of ELU at x <= 0 is ELU(x) + 1. What is kept of ELU(x) has been
    // multiplied by the dropout's scale, which the gradient is multiplied by as
    // well: so scale * (ELU(x) + 1) is the value plus the scale.
    for (auto i = first; i < last; ++i) {
      const auto slope = std::min(value[i], 0.0f) + scale;
      g[i] = keep_if(!was_dropped(value[i]), g[i] * slope);
    }
  } else {
    for (auto i = first; i < last; ++i)
      g[i] = keep_if(!was_dropped(value[i]), g[i] * scale);
  }
}

void gelu(const_matrix x, std::int64_t begin, std::int64_t end, matrix out) {
  for (auto i = begin * x.columns; i < end * x.columns; ++i)
    out.data[i] = x.data[i] * share_below(x.data[i]);
}

void gelu_backward(const_matrix x, float share, std::int64_t begin,
                   std::int64_t end, matrix gradient) {
  constexpr auto density_at_0 = 0.39894228040143268f;
  for (auto i = begin * x.columns; i < end * x.columns; ++i) {
    const auto at = x.data[i];
    const auto density = density_at_0 * std::exp(-0.5f * at * at);
    gradient.data[i] *= share * (share_below(at) + at * density);
  }
}

GRAPHMILL_CLONES
void add_column_sums(const_matrix x, std::int64_t begin, std::int64_t end,
                     float* sums) {
  // Pieces of 64 rows are summed on their own: less rounding than one long sum.
  constexpr std::int64_t block = 512;
  for (std::int64_t at = 0; at < x.columns; at += block) {
    const auto width = std::min(block, x.columns - at);
    for (auto from = begin; from < end; from += 64) {
      float partial[block] = {};
      for (auto i = from; i < std::min(end, from + 64); ++i)
        for (std::int64_t c = 0; c < width; ++c)
          partial[c] += x.row(i)[at + c];
      for (std::int64_t c = 0; c < width; ++c)
        sums[at + c] += partial[c];
    }
  }
}

} // namespace graphmill
