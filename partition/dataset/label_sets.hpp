#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The files of a label set in the folder of its node type: "labels.<set>.npy"
/// and "train.<set>.npy", "val.<set>.npy", "test.<set>.npy". For an empty name,
/// the files of the type's own labels.
std::string labels_file(std::string_view set);
std::string seeds_file(split which, std::string_view set);

/// The position of the label set with this name.
std::optional<std::size_t> find_label_set(const node_type_info& type,
                                          std::string_view name);

/// Whether the names of a type's label sets can be parts of file names and are
/// unique. `check_info` checks counts.
result<void> check_label_set_names(const node_type_info& type,
                                   std::string_view where);

/// A type with one of its label sets: kind, classes, names and sizes of splits
/// are those of the set. The list of sets stays.
node_type_info with_labels_of(const node_type_info& type,
                              const label_set_info& set);

/// Labels and splits of an opened node type.
struct opened_labels {
  std::string_view set; ///< The name of the label set; empty: the type's own.
  const dataset::label_arrays& arrays;
};

/// The type's own labels, then those of its sets. Points into `data`.
std::vector<opened_labels> labels_in(const dataset& data, node_type_id type);

/// A dataset with a label set of its target. Choosing the same set again
/// changes nothing.
/// @param name Empty: the target's own labels, `info` unchanged.
/// Fails, with the existing sets, if there is no set with that name.
result<dataset_info> choose_labels(const dataset_info& info,
                                   std::string_view name);

/// The meaning of a dataset's labels, for comparison with those of another one.
struct label_meaning {
  label_kind kind = label_kind::classes;
  std::string type; ///< The node type that has them.
  /// Classes, or labels or numbers of a node; 0: unknown.
  std::int64_t count = 0;
  std::vector<std::string> names{}; ///< Empty, or one for each.

  friend bool operator==(const label_meaning&, const label_meaning&) = default;
};

/// The difference in meaning between labels of the same kind, as the end of a
/// sentence; empty: none that is known. By number alone, one class would be
/// read as another.
/// @param here, there The names of the two in the sentence.
std::string difference(const label_meaning& here, const label_meaning& there);

/// The meaning of the labels that `choose_labels` chooses.
result<label_meaning> meaning_of_labels(const dataset_info& info,
                                        std::string_view name);

/// A dataset whose target is the node type of these labels, with none of them
/// known: no seeds, and no label sets of the target. Fails if there is no such
/// node type.
result<dataset_info> with_unknown_labels(const dataset_info& info,
                                         const label_meaning& labels);

} // namespace graphmill
