#include "pipelines/compute/activation.hpp"

#include "messages/random.hpp"
#include "pipelines/compute/simd.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace graphmill {

namespace {

constexpr int lanes = 16;
constexpr int group = 8 * lanes; ///< Columns that 16 blocks decide.

/// Sixteen consecutive Philox blocks: words[w][lane].
struct word_group {
  alignas(64) std::uint32_t words[4][lanes];
};

/// Eight 32-bit words, each in a lane wide enough for its products.
using wide_words = std::uint64_t __attribute__((vector_size(64)));
using narrow_words = std::uint32_t __attribute__((vector_size(32)));
using lane_words = std::uint32_t __attribute__((vector_size(64), may_alias));

/// `philox4x32` of messages/random.hpp for the blocks from `first_block` on,
/// in vectors.
GRAPHMILL_INLINE word_group draw(const dropout& drop, std::uint64_t row,
                                 std::uint32_t first_block) {
  word_group out;
  constexpr wide_words step{0, 1, 2, 3, 4, 5, 6, 7};
  for (int part = 0; part < 2; ++part) {
    wide_words c0 = step * 0 + (row & 0xffffffffu);
    wide_words c1 = step * 0 + (row >> 32);
    wide_words c2 = step * 0 + drop.stream;
    wide_words c3 = step + first_block + static_cast<std::uint64_t>(8 * part);
    std::uint64_t k0 = static_cast<std::uint32_t>(drop.key);
    std::uint64_t k1 = drop.key >> 32;
    for (int round = 0; round < 10; ++round) {
      const wide_words p0 = c0 * 0xD2511F53u;
      const wide_words p1 = c2 * 0xCD9E8D57u;
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c1 = p1 & 0xffffffffu;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c3 = p0 & 0xffffffffu;
      k0 = (k0 + 0x9E3779B9u) & 0xffffffffu;
      k1 = (k1 + 0xBB67AE85u) & 0xffffffffu;
    }
    const wide_words all[4] = {c0, c1, c2, c3};
    for (int w = 0; w < 4; ++w) {
      const auto narrow = __builtin_convertvector(all[w], narrow_words);
      std::memcpy(out.words[w] + 8 * part, &narrow, sizeof narrow);
    }
  }
  return out;
}

/// Drops or scales sixteen values by the half words at `shift`. Adding +0 turns
/// a kept -0 into +0, for -0 means dropped.
GRAPHMILL_INLINE void drop_sixteen(const std::uint32_t* words, int shift,
                                   const dropout& drop, float scale,
                                   float* values) {
  const auto bits =
    (*reinterpret_cast<const lane_words*>(words) >> shift) & 0xffffu;
  auto* target = reinterpret_cast<simd::loose_floats*>(values);
  const simd::floats kept = *target * scale + 0.0f;
  constexpr auto minus = -0.0f;
  constexpr simd::floats dropped{minus, minus, minus, minus, minus, minus,
                                 minus, minus, minus, minus, minus, minus,
                                 minus, minus, minus, minus};
  *target = bits < drop.threshold ? dropped : kept;
}

GRAPHMILL_INLINE void drop_some(const std::uint32_t* words, int shift,
                                const dropout& drop, float scale, int count,
                                float* values) {
  for (int i = 0; i < count; ++i)
    values[i] = ((words[i] >> shift) & 0xffffu) < drop.threshold
                  ? -0.0f
                  : values[i] * scale + 0.0f;
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
    const auto drawn = draw(drop, static_cast<std::uint64_t>(row),
                            static_cast<std::uint32_t>(at / group * lanes));
    const auto columns = std::min<std::int64_t>(group, width - at);
    for (std::int64_t c = 0; c < columns; c += lanes) {
      const auto half = static_cast<int>(c / lanes);
      const auto* words = drawn.words[half / 2];
      const auto shift = half % 2 * 16;
      auto* values = out + at + c;
      if (columns - c >= lanes)
        drop_sixteen(words, shift, drop, scale, values);
      else
        drop_some(words, shift, drop, scale, static_cast<int>(columns - c),
                  values);
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
