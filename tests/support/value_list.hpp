#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace graphmill::test {

/// What a node of which nothing is known has for a value.
inline constexpr float no_value = std::numeric_limits<float>::quiet_NaN();

/// Values of nodes as rows of labels.
inline std::vector<std::uint8_t>
rows_of_values(const std::vector<float>& from) {
  std::vector<std::uint8_t> out(from.size() * sizeof(float));
  if (!out.empty()) // Else both are null.
    std::memcpy(out.data(), from.data(), out.size());
  return out;
}

} // namespace graphmill::test
