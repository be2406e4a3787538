#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// A whole number of any sign whose magnitude fits 64 bits.
struct whole_number {
  bool negative = false;
  std::uint64_t magnitude = 0;

  double as_double() const {
    const auto size = static_cast<double>(magnitude);
    return negative ? -size : size;
  }
  /// The number as an int32, into which it must fit.
  std::int32_t as_int32() const {
    const auto size = static_cast<std::int64_t>(magnitude);
    return static_cast<std::int32_t>(negative ? -size : size);
  }
};

/// Decimal digits with an optional sign; nothing for any other text.
std::optional<whole_number> parse_whole(std::string_view text);

/// A finite decimal number such as 0.5, 5e-4 or -3.
std::optional<double> parse_number(std::string_view text);

/// "true" or "false".
std::optional<bool> parse_bool(std::string_view text);

/// A number of bytes: digits, or a number with B, kB, MB, GB, TB (powers of
/// 1000), KiB, MiB, GiB or TiB (powers of 1024), with or without a space.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// "512 MiB" where that is exact, else the digits: `parse_bytes` reads it back.
std::string bytes_text(std::uint64_t bytes);

} // namespace graphmill
