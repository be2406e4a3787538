#include "partition/dataset/label_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace graphmill {

std::optional<std::size_t> find_bad_label(label_kind kind,
                                          std::span<const std::uint8_t> rows,
                                          std::size_t width) {
  if (kind != label_kind::regression) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!fits_label_row(rows[i / width * width], rows[i]))
        return i;
    return std::nullopt;
  }
  for (std::size_t i = 0; i < rows.size() / sizeof(float); ++i) {
    const auto value = value_at(rows, i);
    const auto known = !std::isnan(value_at(rows, i / width * width));
    if (std::isinf(value) || std::isnan(value) == known)
      return i;
  }
  return std::nullopt;
}

bool is_known(label_kind kind, std::span<const std::uint8_t> labels,
              std::size_t at) {
  switch (kind) {
  case label_kind::multi_label:
    return labels[at] != no_labels;
  case label_kind::regression:
    return !std::isnan(value_at(labels, at));
  case label_kind::classes:
  case label_kind::links:
    break;
  }
  std::int64_t label;
  std::memcpy(&label, labels.data() + at * sizeof(label), sizeof(label));
  return label >= 0;
}

std::vector<std::uint8_t>
unknown_labels(label_kind kind, std::int64_t class_count, std::int64_t rows) {
  const auto bytes = traits_of(kind).bytes(class_count);
  std::vector<std::uint8_t> out(bytes * static_cast<std::size_t>(rows),
                                0xff); // Also -1.
  if (kind == label_kind::regression) {
    const auto none = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t at = 0; at < out.size(); at += sizeof none)
      std::memcpy(out.data() + at, &none, sizeof none);
  }
  return out;
}

std::string label_text(label_kind kind, std::span<const std::uint8_t> rows,
                       std::size_t at) {
  return kind == label_kind::regression ? fmt::format("{}", value_at(rows, at))
                                        : fmt::format("{}", rows[at]);
}

} // namespace graphmill
