#include "pipelines/compute/activation.hpp"

#include "messages/random.hpp"
#include "pipelines/compute/simd.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace graphmill {

namespace {

constexpr int lanes = 16;
constexpr int group = 8 * lanes; ///< Columns that 16 blocks decide.

/// Sixteen consecutive Philox blocks: words[w][lane].
struct word_group {
  std::uint32_t words[4][lanes];
};

GRAPHMILL_INLINE void draw(const dropout& drop, std::uint64_t row,
                           std::uint32_t first_block, word_group& out) {
  std::uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
  for (int i = 0; i < lanes; ++i) {
    c0[i] = static_cast<std::uint32_t>(row);
    c1[i] = static_cast<std::uint32_t>(row >> 32);
    c2[i] = drop.stream;
    c3[i] = first_block + static_cast<std::uint32_t>(i);
  }
  auto k0 = static_cast<std::uint32_t>(drop.key);
  auto k1 = static_cast<std::uint32_t>(drop.key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < lanes; ++i) {
      const auto p0 = std::uint64_t{0xD2511F53u} * c0[i];
      const auto p1 = std::uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<std::uint32_t>(p1);
      c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < lanes; ++i) {
    out.words[0][i] = c0[i];
    out.words[1][i] = c1[i];
    out.words[2][i] = c2[i];
    out.words[3][i] = c3[i];
  }
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
      const auto count =
          static_cast<int>(std::min<std::int64_t>(lanes, columns - c));
      auto* values = out + at + c;
      for (int i = 0; i < count; ++i)
        // Adding +0 turns a kept -0 into +0; -0 means dropped.
        values[i] = ((words[i] >> shift) & 0xffffu) < drop.threshold
                        ? -0.0f
                        : values[i] * scale + 0.0f;
    }
  }
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

GRAPHMILL_CLONES
void activate_backward(const_matrix y, activation kind, float scale,
                       std::int64_t begin, std::int64_t end, matrix gradient) {
  const auto first = begin * y.columns;
  const auto last = end * y.columns;
  auto* g = gradient.data;
  const auto* value = y.data;
  if (kind == activation::relu) {
    for (auto i = first; i < last; ++i)
      g[i] = value[i] > 0 ? g[i] * scale : 0.0f;
  } else if (kind == activation::elu) {
    // The slope of ELU at x <= 0 is ELU(x) + 1.
    for (auto i = first; i < last; ++i) {
      const auto slope = value[i] > 0 ? scale : value[i] + scale;
      g[i] = std::signbit(value[i]) && value[i] == 0 ? 0.0f : g[i] * slope;
    }
  } else {
    for (auto i = first; i < last; ++i)
      g[i] = std::signbit(value[i]) && value[i] == 0 ? 0.0f : g[i] * scale;
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
