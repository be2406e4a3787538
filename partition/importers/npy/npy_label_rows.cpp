#include "partition/importers/npy/npy_label_rows.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/importers/npy/npy_labels.hpp"
#include "partition/importers/npy/npy_values.hpp"
#include "partition/writing/memory_needs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

namespace graphmill {

namespace {

constexpr std::int64_t labels_at_once = std::int64_t{1} << 20;

/// @returns 2 for what is no label.
std::uint8_t label_of(float value) {
  if (value == 0 || value == 1)
    return static_cast<std::uint8_t>(value);
  return value == -1 || value == no_labels || std::isnan(value) ? no_labels : 2;
}

/// Fails if rows of labels do not fit into memory, where they are held twice
/// while they are written: a file of holes can claim any number at no cost.
/// @param value_bytes Of one, as it is held.
result<void> expect_room_for_rows(const npy_array& labels,
                                  std::size_t value_bytes) {
  const auto short_of = memory_shortage(
    fmt::format("importing {}", labels.path().string()),
    2 * static_cast<std::uint64_t>(labels.size()) * value_bytes);
  if (short_of)
    return fail(ec::out_of_memory, "{}", *short_of);
  return ok();
}

/// Whether each node that has labels has exactly one.
bool marks_one_each(std::span<const std::uint8_t> rows, std::size_t width) {
  for (std::size_t at = 0; at < rows.size(); at += width) {
    const auto row = rows.subspan(at, width);
    if (row.front() != no_labels && std::ranges::count(row, 1) != 1)
      return false;
  }
  return true;
}

/// Numbers with fractions are not taken for classes, nor for values without
/// being asked to.
result<void> expect_classes(const npy_array& labels,
                            const npy_label_choice& how) {
  const auto type = labels.type();
  if (type != dtype::float16 && type != dtype::float32
      && type != dtype::float64)
    return ok();
  return fail(ec::invalid_data,
              "{} holds {}; integers expected: save classes as such, or import "
              "with {} if labels are numbers to be learnt",
              labels.path().string(), to_string(type),
              how.option("--regression"));
}

/// Takes the kind of labels and how many of them a node has, unless meta.json
/// knows better.
result<void> take_row_width(npy_node_source& type, const npy_meta& meta,
                            std::int64_t width, label_kind kind) {
  const auto& labels = traits_of(kind);
  const auto path = type.labels->path().string();
  if (width < 1 || width > labels.most)
    return fail(ec::invalid_data, "{} has {} {}; 1 to {} expected", path, width,
                labels.units, labels.most);
  GRAPHMILL_TRY(const auto told, count_in_meta(meta, "num_classes"));
  GRAPHMILL_TRY(type.class_names, class_names_in(meta));
  if (told.value_or(width) != width
      || (!type.class_names.empty() && std::ssize(type.class_names) != width))
    return fail(ec::invalid_data,
                "{} has {} {} for each node, and meta.json speaks of {} "
                "classes",
                path, width, labels.units,
                told.value_or(std::ssize(type.class_names)));
  type.class_count = width;
  type.kind = kind;
  return ok();
}

} // namespace

std::string npy_label_choice::option(std::string_view flag) const {
  return set.empty() ? std::string{flag} : fmt::format("{}-set {}", flag, set);
}

result<void> derive_npy_labels(npy_node_source& type, const npy_meta& meta,
                               const npy_label_choice& how) {
  const auto& labels = *type.labels;
  if (how.regression)
    return derive_npy_values(type, meta, how);
  if (labels.shape().size() == 2 && (how.multi_label || !is_list(labels))) {
    // Of label sets, those that are classes alone are numbered anew.
    if (how.renumber && how.set.empty())
      return fail(ec::invalid_argument,
                  "--renumber-labels is for one label for each node, and {} "
                  "has several; leave it out",
                  labels.path().string());
    return derive_npy_label_rows(type, meta, how);
  }
  if (how.multi_label)
    return fail(ec::invalid_argument,
                "{}: {} has one number for each node; a row of 0 and 1 for "
                "each is expected",
                how.option("--multi-label"), labels.path().string());
  GRAPHMILL_TRYV(expect_one_label_each(labels, type.count));
  GRAPHMILL_TRYV(expect_classes(labels, how));
  return derive_npy_classes(type, meta, how.renumber, how.none);
}

result<std::vector<std::uint8_t>> read_label_rows(const npy_array& labels,
                                                  const npy_label_choice& how,
                                                  unlabelled_nodes& found) {
  const auto width = labels.shape()[1];
  GRAPHMILL_TRYV(expect_room_for_rows(labels, sizeof(std::uint8_t)));
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(labels.size()));
  std::vector<float> values;
  for (std::int64_t first = 0; first < labels.size(); first += labels_at_once) {
    values.resize(static_cast<std::size_t>(
      std::min(labels_at_once, labels.size() - first)));
    GRAPHMILL_TRYV(copy_floats(labels, first, values));
    take_out<float>(values, first, width, how.none, found);
    for (std::int64_t i = first; i < first + std::ssize(values); ++i) {
      const auto value = values[static_cast<std::size_t>(i - first)];
      const auto at = static_cast<std::size_t>(i);
      rows[at] = label_of(value);
      const auto row = static_cast<std::size_t>(i / width * width);
      if (!fits_label_row(rows[row], rows[at]))
        return fail(ec::invalid_data,
                    "{} has {} numbers for each node, and number {} of node {} "
                    "is {}: nodes with several labels have 1 for each that "
                    "they have and 0 for the others, or -1 throughout if "
                    "nothing is known of them; import with {} if labels are "
                    "numbers to be learnt",
                    labels.path().string(), width, i % width, i / width, value,
                    how.option("--regression"));
    }
  }
  return rows;
}

result<void> derive_npy_values(npy_node_source& type, const npy_meta& meta,
                               const npy_label_choice& how) {
  const auto& labels = *type.labels;
  std::int64_t width = 1;
  if (!is_list(labels) || labels.size() != type.count) {
    GRAPHMILL_TRYV(labels.expect_shape({type.count, -1}));
    width = labels.shape()[1];
  }
  GRAPHMILL_TRYV(take_row_width(type, meta, width, label_kind::regression));
  GRAPHMILL_TRYV(expect_room_for_rows(labels, sizeof(float)));
  type.label_rows.resize(static_cast<std::size_t>(labels.size())
                         * sizeof(float));
  std::vector<float> values;
  for (std::int64_t first = 0; first < labels.size(); first += labels_at_once) {
    values.resize(static_cast<std::size_t>(
      std::min(labels_at_once, labels.size() - first)));
    GRAPHMILL_TRYV(copy_floats(labels, first, values));
    take_out<float>(values, first, width, how.none, type.unlabelled);
    for (auto& value : values)
      if (std::isnan(value)) // Of which there are many kinds.
        value = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(type.label_rows.data()
                  + static_cast<std::size_t>(first) * sizeof(float),
                values.data(), values.size() * sizeof(float));
  }
  const auto columns = static_cast<std::size_t>(width);
  if (const auto bad = find_bad_label(type.kind, type.label_rows, columns))
    return fail(ec::invalid_data,
                "{}: number {} of node {} is {}; finite numbers that float32 "
                "holds are expected, or nan in all columns of a node of which "
                "nothing is known",
                labels.path().string(), *bad % columns, *bad / columns,
                value_at(type.label_rows, *bad));
  return ok();
}

result<void> derive_npy_label_rows(npy_node_source& type, const npy_meta& meta,
                                   const npy_label_choice& how) {
  const auto& labels = *type.labels;
  const auto path = labels.path().string();
  GRAPHMILL_TRYV(labels.expect_shape({type.count, -1}));
  const auto width = labels.shape()[1];
  GRAPHMILL_TRYV(take_row_width(type, meta, width, label_kind::multi_label));
  GRAPHMILL_TRY(type.label_rows, read_label_rows(labels, how, type.unlabelled));
  if (!how.multi_label
      && marks_one_each(type.label_rows, static_cast<std::size_t>(width)))
    return fail(ec::invalid_data,
                "each row of {} marks one of {} classes: save argmax(axis=1) "
                "of it, or import with {} if nodes can have several",
                path, width, how.option("--multi-label"));
  return ok();
}

} // namespace graphmill
