#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/graph_changes.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Seeds of training, validation and test.
using split_ids = std::array<std::vector<node_id>, 3>;

/// How many nodes have each label that stands for none.
using unlabelled_nodes = std::map<std::string, std::int64_t, std::less<>>;

/// A label set on its way from a source to a writer. Value type.
struct incoming_labels {
  std::string name;
  std::vector<std::int64_t> labels; ///< [nodes] Classes, -1 = none.
  std::int64_t class_count = 0;
  std::vector<std::string> class_names{}; ///< Empty, or one per class.
  std::optional<split_ids> splits{};      ///< If the source has them.
  label_kind kind = label_kind::classes;
  /// [nodes, bytes of a row] Instead of `labels`, of the other kinds.
  std::vector<std::uint8_t> rows{};
  unlabelled_nodes unlabelled{}; ///< By labels that are not empty.
  /// Whether nodes of `splits` without a label are left out, and no error.
  bool drops_unlabelled = false;
};

/// What a node has, for sentences: "any of 3 labels for each node".
std::string labels_text(label_kind kind, std::int64_t class_count);

/// Declares label sets of a type before a writer is made.
void declare_label_sets(node_type_info& type,
                        std::span<const incoming_labels> sets);

/// Gives the label sets of a type to a writer. A set whose source has no split
/// of its own gets one by `request`; without that it takes over the seeds of
/// the type's own split, without those that have no label in the set. Says
/// which of it was done.
/// @param request Of the target; nothing for other types.
/// @param type With its label sets declared.
/// @param own The splits that the source has of the type's own labels.
/// @param times [nodes] As for `write_split`.
result<void> write_label_sets(std::span<const incoming_labels> sets,
                              const std::optional<split_request>& request,
                              const node_type_info& type, node_type_id id,
                              const split_ids& own,
                              std::span<const double> times,
                              dataset_writer& writer,
                              const note_callback& on_note);

} // namespace graphmill
