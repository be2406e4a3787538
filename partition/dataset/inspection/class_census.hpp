#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

class partitioned_graph;

/// How often a class, or one of several labels, occurs.
struct class_count {
  std::string name; ///< Its number, if the dataset has no names of classes.
  std::int64_t nodes = 0;              ///< Or edges.
  std::array<std::int64_t, 3> seeds{}; ///< By split.
};

/// A number that many exports write where no value is known, and that is the
/// smallest of the numbers to be learnt.
struct odd_number {
  float value = 0;
  std::int64_t nodes = 0; ///< Or edges.
};

/// The labels of a node type, of one of its label sets, or of a task of edges,
/// counted. Value type.
struct class_census {
  std::string type; ///< Of nodes.
  std::string set;  ///< Empty: the type's own labels.
  std::string task; ///< Empty: of no task. Otherwise type and set are empty.
  label_kind kind = label_kind::classes;
  bool named = false; ///< Whether the dataset has names of classes.
  std::vector<class_count> classes;    ///< None if labels are numbers.
  std::vector<odd_number> odd_numbers; ///< At most one for each column.
  std::int64_t labelled = 0;           ///< Nodes, or edges in splits.
  std::int64_t unlabelled = 0;         ///< Likewise.
  std::array<std::int64_t, 3> seeds{}; ///< By split.

  /// "labels of <type>", "label set <set> of <type>" or "labels of task
  /// <task>".
  std::string title() const;
  /// What has labels: "node" or "edge".
  std::string_view unit() const { return task.empty() ? "node" : "edge"; }
};

/// Counts the labels of all node types, label sets and tasks of a dataset.
/// Reads each array of labels and seeds once.
result<std::vector<class_census>> count_classes_of(const dataset& data);

/// Counts the labels that a run learns: those of the target's seeds, or of the
/// rows of its task. Links have none.
/// @param graph As the definition shows it. Maps all of its parts.
result<class_census> count_classes_of_seeds(const partitioned_graph& graph);

/// What may go wrong without a word when a model is trained on such labels, a
/// sentence each: classes without a training seed, and about as many classes as
/// nodes or edges.
std::vector<std::string> notes_on_training(const class_census& census);

/// Classes and numbers that look as if no label were known, a sentence each.
std::vector<std::string> notes_on_names(const class_census& census);

} // namespace graphmill
