#pragma once

#include "partition/files/npy/npy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace graphmill {

/// The kind of labels of nodes or edges.
enum class label_kind : std::uint8_t {
  classes,     ///< One class of `class_count`: int64 [N], -1 = none.
  multi_label, ///< Any of `class_count` labels: uint8 [N, class_count], 1 where
               ///< a node has the label and 0 where not; `no_labels` throughout
               ///< the row of a node of which nothing is known.
  regression,  ///< `class_count` finite numbers: float32 [N, class_count]; no
               ///< numbers throughout the row of a node of which nothing is
               ///< known.
  links        ///< None: rows are edges, which are told from others. Not of
               ///< nodes, and in no file of a dataset.
};

/// Everything that distinguishes one kind of labels from the others in files,
/// in one record. Code that depends on the kind asks its traits.
struct label_traits {
  label_kind kind = label_kind::classes;
  std::string_view name;   ///< The word in files.
  std::string_view phrase; ///< What a label is, for sentences.
  std::string_view choice; ///< "any of ", if a node has some of the columns.
  std::string_view unit;   ///< A column of a row, for sentences.
  std::string_view units;  ///< The plural.
  /// What nodes have or may have in place of one class, for sentences. Empty
  /// for classes.
  std::string_view instead;
  std::string_view expected; ///< What a column may hold, for sentences.
  /// Classes, or elements of a row: the most that a dataset may have. Labels
  /// cost a byte of every node each.
  std::int64_t most = std::int64_t{1} << 24;
  dtype element = dtype::int64;
  /// Whether a node has a row of `class_count` elements instead of one.
  bool rows = false;
  bool numbers = false; ///< Labels are measured, not counted.

  /// Bytes of the label of one node or edge.
  std::uint64_t bytes(std::int64_t class_count) const {
    return (rows ? static_cast<std::uint64_t>(class_count) : 1)
           * size_of(element);
  }
};

/// The traits of all kinds, by the value of the kind.
inline constexpr std::array all_label_kinds{
  label_traits{.kind = label_kind::classes,
               .name = "classes",
               .phrase = "one class for each node",
               .unit = "class",
               .units = "classes",
               .expected = "a class, or -1 for none"},
  label_traits{.kind = label_kind::multi_label,
               .name = "multi_label",
               .phrase = "any of several labels for each node",
               .choice = "any of ",
               .unit = "label",
               .units = "labels",
               .instead = "may have several labels",
               .expected = "0 or 1 expected, or 255 in all columns of a node "
                           "without labels",
               .most = std::int64_t{1} << 16,
               .element = dtype::uint8,
               .rows = true},
  label_traits{.kind = label_kind::regression,
               .name = "regression",
               .phrase = "numbers for each node",
               .unit = "number",
               .units = "numbers",
               .instead = "have numbers for labels",
               .expected = "finite numbers expected, or no number in all "
                           "columns of a node of which nothing is known",
               .most = 1024,
               .element = dtype::float32,
               .rows = true,
               .numbers = true},
  label_traits{.kind = label_kind::links,
               .name = "links",
               .phrase = "links",
               .unit = "link",
               .units = "links",
               .instead = "are not what is learnt, but links",
               .expected = "no labels expected",
               .most = 1},
};

constexpr const label_traits& traits_of(label_kind kind) {
  return all_label_kinds[static_cast<std::size_t>(kind)];
}
static_assert(std::all_of(all_label_kinds.begin(), all_label_kinds.end(),
                          [](const label_traits& of) {
                            return &traits_of(of.kind) == &of;
                          }));

/// "classes", "multi_label", "regression", "links": the words in files.
constexpr std::string_view to_string(label_kind which) {
  return traits_of(which).name;
}

/// The kind of labels of nodes with this name, if there is one.
constexpr std::optional<label_kind> label_kind_of(std::string_view name) {
  for (const auto& one : all_label_kinds)
    if (one.name == name && one.kind != label_kind::links)
      return one.kind;
  return std::nullopt;
}

/// The value in all columns of an unlabelled node's row, for `multi_label`.
inline constexpr std::uint8_t no_labels = 255;

/// Whether a value is valid in a row of labels whose first value is `first`,
/// for `multi_label`.
constexpr bool fits_label_row(std::uint8_t first, std::uint8_t value) {
  return first == no_labels ? value == no_labels : value <= 1;
}

} // namespace graphmill
