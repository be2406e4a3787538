#pragma once

#include "pipelines/kernels/simd.hpp"

#include <cstdint>

// What kernels that work by octets have in common; for their sources alone. All
// of it is inlined into kernels with GRAPHMILL_CLONES.

namespace graphmill::octets {

using simd::octet;
using simd::octet_width;

GRAPHMILL_INLINE octet spread(float x) {
  return simd::spread<octet>(x);
}

GRAPHMILL_INLINE octet load(const float* from) {
  return simd::load<octet>(from);
}

GRAPHMILL_INLINE void store(octet x, float* to) {
  simd::store(x, to);
}

/// One register of columns of a row, of which there are fewer if it is partial:
/// zeros stand for the others.
template <bool Partial>
struct columns_at {
  int count;

  GRAPHMILL_INLINE octet get(const float* from) const {
    if constexpr (!Partial)
      return load(from);
    float all[octet_width] = {};
    for (int c = 0; c < count; ++c)
      all[c] = from[c];
    return load(all);
  }

  GRAPHMILL_INLINE void put(octet x, float* to) const {
    if constexpr (!Partial)
      return store(x, to);
    float all[octet_width];
    store(x, all);
    for (int c = 0; c < count; ++c)
      to[c] = all[c];
  }
};

/// Registers of a row of so many columns.
constexpr std::int64_t octets_of(std::int64_t columns) {
  return (columns + octet_width - 1) / octet_width;
}

/// Which columns of a row are above 0, a bit each. The bits of 32 registers
/// share a register, so that no lane leaves its place: lane c of register r is
/// bit r % 32 of lane c.
using sign_lanes = std::int32_t __attribute__((vector_size(32)));

constexpr std::int64_t sign_group = 32;

/// The bytes of the signs of so many registers.
constexpr std::int64_t sign_bytes(std::int64_t registers) {
  return (registers + sign_group - 1) / sign_group * 32;
}

/// Signs that share a register with those from number `at` on.
GRAPHMILL_INLINE sign_lanes signs_at(const std::uint8_t* row, std::int64_t at) {
  sign_lanes out;
  __builtin_memcpy(&out, row + at / sign_group * sizeof out, sizeof out);
  return out;
}
GRAPHMILL_INLINE void put_signs(sign_lanes signs, std::uint8_t* row,
                                std::int64_t at) {
  __builtin_memcpy(row + at / sign_group * sizeof signs, &signs, sizeof signs);
}

} // namespace graphmill::octets
