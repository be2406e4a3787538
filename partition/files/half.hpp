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

/// The value of a float16; exact. Without branches, so that loops over it
/// become vector code.
constexpr float from_half(std::uint16_t half) {
  const auto bits = static_cast<std::uint32_t>(half & 0x7fffu) << 13;
  // The product moves the exponent's bias and makes subnormals normal.
  auto wide =
    std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) * 0x1p112f);
  wide |= bits >= 0x0f800000u ? 0x7f800000u : 0u; // infinite, not a number
  return std::bit_cast<float>(
    wide | static_cast<std::uint32_t>(half & 0x8000u) << 16);
}

/// The least magnitude that `to_half` makes infinite: the middle between 65504,
/// the largest float16, and the next step.
inline constexpr float half_overflow = 65520;

/// `from_half(to_half(value))` of values below `half_overflow`; of others
/// something else. Without branches, so that loops over it become vector code.
constexpr float round_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = bits & 0x7fffffffu;
  // Normal: adds just under half of what is cut off, or half before an odd
  // number. Subnormal: the sum with 0.5 has float16's least bit as its own.
  const auto normal =
    (magnitude + 0xfffu + (magnitude >> 13 & 1u)) & 0xffffe000u;
  const auto subnormal = std::bit_cast<std::uint32_t>(
    (std::bit_cast<float>(magnitude) + 0.5f) - 0.5f);
  return std::bit_cast<float>((bits & 0x80000000u)
                              | (magnitude < 0x38800000u ? subnormal : normal));
}

} // namespace graphmill
