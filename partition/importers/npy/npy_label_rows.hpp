#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/npy/npy_label_sets.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// As what labels are to be taken. Neither multi-label nor regression: as
/// what they look like, classes or rows of several labels, but never numbers.
struct npy_label_choice {
  bool renumber = false;    ///< As for `derive_npy_classes`.
  bool multi_label = false; ///< Rows of labels, though each marks one.
  bool regression = false;  ///< Numbers to be learnt.
  std::string_view set{};   ///< The label set; empty: the type's own labels.
  no_label_values none{};   ///< Labels that stand for none.

  /// An option for import, as it is called for these labels: "--regression",
  /// or "--regression-set <set>".
  std::string option(std::string_view flag) const;
};

/// Finds out what the `labels` of a type are, and sets its kind, classes and
/// rows. @param type With its count.
/// @param meta What meta.json says of the labels.
result<void> derive_npy_labels(npy_node_source& type, const npy_meta& meta,
                               const npy_label_choice& how);

/// Reads rows of labels: 0 and 1 in numbers of any kind, or in all columns of a
/// node without labels -1, 255, what is no number, and what the user says. An
/// error names the first value that is none of these.
/// @param found Gets the labels that the user says stand for none.
/// @returns [nodes, labels], as `label_kind` says.
result<std::vector<std::uint8_t>> read_label_rows(const npy_array& labels,
                                                  const npy_label_choice& how,
                                                  unlabelled_nodes& found);

/// Makes nodes of a type have values, which its `labels` are: [count] or
/// [count, values], rounded to float32. A row is no number throughout where
/// nothing is known of a node. Fails if a number is not finite, or meta.json
/// speaks of another number of values.
result<void> derive_npy_values(npy_node_source& type, const npy_meta& meta,
                               const npy_label_choice& how);

/// Makes nodes of a type have several labels, which its `labels` are rows of.
/// Rows that mark one class each may be either, so that they must be asked for.
/// Fails if meta.json speaks of another number of labels.
result<void> derive_npy_label_rows(npy_node_source& type, const npy_meta& meta,
                                   const npy_label_choice& how);

} // namespace graphmill
