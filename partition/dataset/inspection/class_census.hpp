#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

class partitioned_graph;

/// How often a class, or one of several labels, occurs.
struct class_count {
  std::string name; ///< Its number, if the dataset has no names of classes.
  std::int64_t nodes = 0;
  std::array<std::int64_t, 3> seeds{}; ///< By split.
};

/// A number that many exports write where no value is known, and that is the
/// smallest of the numbers to be learnt.
struct odd_number {
  float value = 0;
  std::int64_t nodes = 0;
};

/// The labels of a node type, or of one of its label sets, counted. Value type.
struct class_census {
  std::string type; ///< Of nodes.
  std::string set;  ///< Empty: the type's own labels.
  label_kind kind = label_kind::classes;
  bool named = false; ///< Whether the dataset has names of classes.
  std::vector<class_count> classes;    ///< None if labels are numbers.
  std::vector<odd_number> odd_numbers; ///< At most one for each column.
  std::int64_t labelled = 0;           ///< Nodes.
  std::int64_t unlabelled = 0;
  std::array<std::int64_t, 3> seeds{}; ///< By split.

  /// "labels of <type>", or "label set <set> of <type>".
  std::string title() const;
};

/// Counts the labels of all node types and label sets of a dataset. Reads each
/// array of labels and seeds once.
result<std::vector<class_census>> count_classes_of(const dataset& data);

/// Counts the labels that a run learns: those of the target's seeds.
/// @param graph As the definition's labels show it. Maps all of its parts.
result<class_census> count_classes_of_seeds(const partitioned_graph& graph);

/// What may go wrong without a word when a model is trained on such labels, a
/// sentence each: classes without a training node, and about as many classes as
/// nodes.
std::vector<std::string> notes_on_training(const class_census& census);

/// Classes and numbers that look as if no label were known, a sentence each.
std::vector<std::string> notes_on_names(const class_census& census);

} // namespace graphmill
