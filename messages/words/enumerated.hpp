#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <ranges>
#include <string>

namespace graphmill {

/// "a, b, c" for a sentence; of more than `most` names the first ones, and how
/// many there are beside them: a cluster may have a thousand daemons.
template <std::ranges::sized_range Names>
std::string enumerated(const Names& names, std::size_t most = 16) {
  std::string out;
  std::size_t told = 0;
  for (const auto& name : names) {
    if (told == most)
      return out + fmt::format(" and {} more", std::ranges::size(names) - most);
    out += fmt::format("{}{}", told == 0 ? "" : ", ", name);
    ++told;
  }
  return out;
}

} // namespace graphmill
