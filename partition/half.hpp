#pragma once

#include <bit>
#include <cstdint>

namespace graphmill {

/// The bits of the float16 (IEEE 754 binary16) nearest to `value`, ties to
/// even. Values beyond the range become infinite.
constexpr std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const auto magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return sign | 0x7e00u; // not a number
  if (magnitude >= 0x47800000u)
    return sign | 0x7c00u; // 65536 and above: infinite
  const auto round = [](std::uint32_t mantissa, int shift) {
    const auto half = 1u << (shift - 1);
    const auto kept = mantissa >> shift;
    const auto rest = mantissa & ((1u << shift) - 1);
    return kept + (rest > half || (rest == half && (kept & 1u) != 0) ? 1 : 0);
  };
  if (magnitude >= 0x38800000u) // a normal float16: rebias the exponent
    return static_cast<std::uint16_t>(sign
                                      | round(magnitude - 0x38000000u, 13));
  if (magnitude < 0x33000000u)
    return sign; // below half of the least float16
  const auto mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const auto shift = 126 - static_cast<int>(magnitude >> 23);
  return static_cast<std::uint16_t>(sign | round(mantissa, shift));
}

/// The value of a float16; exact.
constexpr float from_half(std::uint16_t bits) {
  const auto sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const auto magnitude = static_cast<std::uint32_t>(bits & 0x7fffu);
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | 0x7f800000u
                                | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u)
    return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const auto small = static_cast<float>(magnitude) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

} // namespace graphmill
