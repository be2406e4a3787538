#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace graphmill {

// Rows of values that nodes have for labels (`label_kind::regression`), as they
// lie in files, messages and batches: bytes, four for each float32, which need
// not be aligned.

/// @param at Counts values, not bytes.
inline float value_at(std::span<const std::uint8_t> rows, std::size_t at) {
  float out;
  std::memcpy(&out, rows.data() + at * sizeof(out), sizeof(out));
  return out;
}

/// The first value that cannot stand where it does: values are finite, but
/// those of a node of which nothing is known, which are all no numbers.
/// @param rows [nodes, width] @returns its place, counted in values.
inline std::optional<std::size_t>
find_bad_value(std::span<const std::uint8_t> rows, std::size_t width) {
  const auto count = rows.size() / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = value_at(rows, i);
    const auto known = !std::isnan(value_at(rows, i / width * width));
    if (std::isinf(value) || std::isnan(value) == known)
      return i;
  }
  return std::nullopt;
}

} // namespace graphmill
