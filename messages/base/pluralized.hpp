#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace graphmill {

/// "1 epoch", "2 epochs".
/// @param many The plural; empty: `singular` with an s.
template <std::integral Number>
std::string pluralized(Number number, std::string_view singular,
                       std::string_view many = {}) {
  if (number == 1)
    return fmt::format("{} {}", number, singular);
  if (many.empty())
    return fmt::format("{} {}s", number, singular);
  return fmt::format("{} {}", number, many);
}

} // namespace graphmill
