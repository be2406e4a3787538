#pragma once

#include "partition/dataset/label_kinds.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

class npy_array;

// Rows of labels as they lie in files and messages: bytes of elements of the
// kind's type, which need not be aligned. Places count elements, not bytes.

/// Of float32.
inline float value_at(std::span<const std::uint8_t> rows, std::size_t at) {
  float out;
  std::memcpy(&out, rows.data() + at * sizeof(out), sizeof(out));
  return out;
}

/// The first element that cannot stand where it does, as `label_kind` says.
/// @param kind One with rows. @param rows [nodes, width] elements.
std::optional<std::size_t> find_bad_label(label_kind kind,
                                          std::span<const std::uint8_t> rows,
                                          std::size_t width);

/// Whether a row has a label.
/// @param labels Of any kind, row after row.
bool is_known(label_kind kind, std::int64_t class_count,
              std::span<const std::uint8_t> labels, std::size_t row);

/// The same for labels in a file.
bool is_known(label_kind kind, std::int64_t class_count,
              const npy_array& labels, std::size_t row);

/// The label bytes of `rows` rows whose labels are all unknown.
std::vector<std::uint8_t>
unknown_labels(label_kind kind, std::int64_t class_count, std::int64_t rows);

/// An element, for sentences. @param kind One with rows.
std::string label_text(label_kind kind, std::span<const std::uint8_t> rows,
                       std::size_t at);

} // namespace graphmill
