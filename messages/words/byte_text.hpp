#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace graphmill {

/// "1.50 GiB": three digits, in the units of `budget.bytes`.
inline std::string byte_text(std::uint64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value,
                     value < 10    ? 2
                     : value < 100 ? 1
                                   : 0,
                     units[unit]);
}

} // namespace graphmill
