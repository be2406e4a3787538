#include "partition/dataset/label_rows.hpp"

#include "partition/files/npy/npy.hpp"

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

bool is_known(label_kind kind, std::int64_t class_count,
              std::span<const std::uint8_t> labels, std::size_t row) {
  const auto own = labels.subspan(row * traits_of(kind).bytes(class_count));
  switch (kind) {
  case label_kind::multi_label:
    return own.front() != no_labels;
  case label_kind::regression:
    return !std::isnan(value_at(own, 0));
  case label_kind::classes:
  case label_kind::links:
    break;
  }
  std::int64_t label;
  std::memcpy(&label, own.data(), sizeof(label));
  return label >= 0;
}

bool is_known(label_kind kind, std::int64_t class_count,
              const npy_array& labels, std::size_t row) {
  return is_known(kind, class_count,
                  {reinterpret_cast<const std::uint8_t*>(labels.data()),
                   labels.bytes().size()},
                  row);
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
