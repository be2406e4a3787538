#pragma once

#include "pipelines/kernels/simd.hpp"

#include <cstdint>
#include <type_traits>

// Which columns of a row are above 0, a bit each; for sources of kernels alone.
// 16 bytes hold 128 columns: column c has bit c / 16 + c % 16 / 4 * 8 of
// integer c % 4. So a register of any size is packed by halving it and unpacked
// by doubling what was kept, and no lane leaves its place.

namespace graphmill::column_signs {

inline constexpr std::int64_t word_columns = 128;

using word = std::int32_t __attribute__((vector_size(16)));

/// The bytes of a row.
constexpr std::int64_t bytes_of(std::int64_t columns) {
  return (columns + word_columns - 1) / word_columns * 16;
}

/// The word that has column `at` of a row.
template <class Byte>
GRAPHMILL_INLINE Byte* place(Byte* row, std::int64_t at) {
  return row + at / word_columns * 16;
}

GRAPHMILL_INLINE word load(const std::uint8_t* from) {
  word out;
  __builtin_memcpy(&out, from, sizeof out);
  return out;
}

/// The word as one number: compilers broadcast that to all lanes.
GRAPHMILL_INLINE __int128 whole(word x) {
  __int128 out;
  __builtin_memcpy(&out, &x, sizeof out);
  return out;
}

/// Bits of an octet, a lane for each column.
struct octet_lanes {
  using type = std::int32_t __attribute__((vector_size(32)));

  /// The bits of register number `v` of a word.
  static GRAPHMILL_INLINE type bits(int v) {
    return (type{1, 1, 1, 1, 1 << 8, 1 << 8, 1 << 8, 1 << 8})
           << (v % 2 * 16 + v / 2);
  }
  /// The same for the first `count` lanes alone.
  static GRAPHMILL_INLINE type bits(int v, int count) {
    return bits(v) & ((type{0, 1, 2, 3, 4, 5, 6, 7}) < count);
  }
  static GRAPHMILL_INLINE word pack(type x) {
    return __builtin_shufflevector(x, x, 0, 1, 2, 3)
           | __builtin_shufflevector(x, x, 4, 5, 6, 7);
  }
  static GRAPHMILL_INLINE type unpack(word x) {
    using words = __int128 __attribute__((vector_size(32)));
    return reinterpret_cast<type>(words{whole(x), whole(x)});
  }
};

/// The same of sixteen floats.
struct wide_lanes {
  using type = std::int32_t __attribute__((vector_size(64)));
  using half = octet_lanes;

  static GRAPHMILL_INLINE type bits(int v) {
    return (type{1, 1, 1, 1, 1 << 8, 1 << 8, 1 << 8, 1 << 8, 1 << 16, 1 << 16,
                 1 << 16, 1 << 16, 1 << 24, 1 << 24, 1 << 24, 1 << 24})
           << v;
  }
  static GRAPHMILL_INLINE type bits(int v, int count) {
    return bits(v)
           & ((type{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
              < count);
  }
  static GRAPHMILL_INLINE word pack(type x) {
    return half::pack(
      __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7)
      | __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  }
  static GRAPHMILL_INLINE type unpack(word x) {
    using words = __int128 __attribute__((vector_size(64)));
    const auto one = whole(x);
    return reinterpret_cast<type>(words{one, one, one, one});
  }
};

/// @tparam V floats or octet
template <class V>
using lanes_of =
  std::conditional_t<simd::width_of<V> == simd::width, wide_lanes, octet_lanes>;

template <class V>
using lanes = typename lanes_of<V>::type;

/// Keeps the signs of registers from column `at` on: bits(v) of register v.
/// Those of the first columns of a word replace what is there. A block of
/// registers begins at a multiple of 16 columns.
template <class V>
GRAPHMILL_INLINE void keep(lanes<V> signs, std::uint8_t* row, std::int64_t at) {
  auto* to = place(row, at);
  auto packed = lanes_of<V>::pack(signs);
  if (const auto behind = static_cast<int>(at % word_columns); behind != 0)
    packed = packed << behind / 16 | load(to);
  __builtin_memcpy(to, &packed, sizeof packed);
}

} // namespace graphmill::column_signs
