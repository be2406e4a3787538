#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The files of a label set within the folder of its node type:
/// "labels.<set>.npy" and "train.<set>.npy", "val.<set>.npy", "test.<set>.npy".
/// Of an empty name, those of the type's own labels.
std::string labels_file(std::string_view set);
std::string seeds_file(split which, std::string_view set);

/// Where a node type has a label set of this name.
std::optional<std::size_t> find_label_set(const node_type_info& type,
                                          std::string_view name);

/// Whether the names of a type's label sets can be parts of file names, and
/// each is there once. Counts are checked by `check_info`.
result<void> check_label_set_names(const node_type_info& type,
                                   std::string_view where);

/// A type as one of its label sets shows it: the kind of labels, classes, their
/// names and the sizes of splits are that set's. The sets stay in it.
node_type_info with_labels_of(const node_type_info& type,
                              const label_set_info& set);

/// Labels and splits of a node type that was opened.
struct opened_labels {
  std::string_view set; ///< The name of the label set; empty: the type's own.
  const dataset::label_arrays& arrays;
};

/// The type's own labels, and then those of its sets. Points into `data`.
std::vector<opened_labels> labels_in(const dataset& data, node_type_id type);

/// A dataset as a label set of its target shows it. To choose again what was
/// chosen changes nothing.
/// @param name Empty: the target's own labels, `info` as it is.
/// Fails, and names the sets that there are, if there is none of that name.
result<dataset_info> choose_labels(const dataset_info& info,
                                   std::string_view name);

/// What the labels are that `choose_labels` chooses.
result<label_kind> kind_of_labels(const dataset_info& info,
                                  std::string_view name);

/// What labels of a dataset mean, by which those of another one can be compared
/// with them.
struct label_meaning {
  label_kind kind = label_kind::classes;
  std::string type; ///< The node type that has them.
  /// Classes, or labels or numbers of a node; 0: it is not known what they are.
  std::int64_t count = 0;
  std::vector<std::string> names{}; ///< Empty, or one for each.

  friend bool operator==(const label_meaning&, const label_meaning&) = default;
};

/// Where labels of the same kind differ in what they mean, as the end of a
/// sentence; empty: nowhere, as far as is known of both. By number, a class
/// would be taken for another one.
/// @param here, there How it calls them is "here" and "there".
std::string difference(const label_meaning& here, const label_meaning& there);

/// What those mean that `choose_labels` chooses.
result<label_meaning> meaning_of_labels(const dataset_info& info,
                                        std::string_view name);

/// A dataset as if its target were the node type of these labels and had them,
/// and none of them were known: there are no seeds, and no label sets of the
/// target. Fails if there is no such node type.
result<dataset_info> with_unknown_labels(const dataset_info& info,
                                         const label_meaning& labels);

} // namespace graphmill
