#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/digest_record.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// The distribution of the edges of one type over the nodes at one end.
struct degree_summary {
  /// Which percentiles are reported: 1, 10, 50, 90, 99.
  static constexpr std::array<int, 5> percents{1, 10, 50, 90, 99};

  std::int64_t least = 0;
  std::int64_t most = 0;
  double mean = 0;
  std::array<std::int64_t, 5> percentiles{}; ///< Of nearest rank.
  std::int64_t without = 0;                  ///< Nodes without such an edge.
};

/// The summary of a list of degrees, one per node; all zero without nodes.
degree_summary summarise_degrees(std::vector<std::int32_t> degrees);

/// The distribution of one number of the labels, over nodes with known labels;
/// all zero without any.
struct value_summary {
  double least = 0;
  double most = 0;
  double mean = 0;
  double deviation = 0; ///< The root of the mean of squares around the mean.
};

/// The distribution of the weights of edges of one type; all zero without
/// edges.
struct weight_summary {
  double least = 0;
  double most = 0;
  double mean = 0;
  std::int64_t zeros = 0; ///< Edges that weigh nothing.
};

struct label_inspection {
  std::vector<std::int64_t> class_counts; ///< Nodes per class, or
                                          ///< nodes that have each label.
  std::vector<value_summary> values;      ///< Instead, where labels are
                                          ///< numbers.
  std::int64_t unlabelled = 0;            ///< Of a type with labels.
};

struct node_type_inspection : label_inspection { ///< Of the type's own labels.
  std::int64_t isolated = 0; ///< Nodes without an edge of any type.
  std::vector<label_inspection> label_sets; ///< As in `node_type_info`.
};

struct edge_type_inspection {
  degree_summary in;  ///< Over the destination type.
  degree_summary out; ///< Over the source type.
  /// Edges from a node to itself; counted if both ends have one type, and not
  /// in parts.
  std::int64_t self_loops = 0;
  std::int64_t duplicates = 0; ///< Edges with the same ends as an earlier one.
  std::int64_t early = 0;      ///< `count_early_edges`; not in parts.
  std::optional<weight_summary> weights; ///< If the type has weights.
};

/// What may be wrong with the splits of a task of edges.
struct task_inspection {
  /// Rows of the nodes and edge type of a row of an earlier split.
  std::int64_t overlapping = 0;
  std::int64_t repeated = 0; ///< The same, of an earlier row of their split.
  /// Rows whose nodes a row of an earlier split joins the other way round, in
  /// the reverse edge type.
  std::int64_t reversed = 0;
  /// Rows of later splits that training shows the other way round, as an edge
  /// of their type.
  std::int64_t shown_back = 0;
  std::int64_t unseen = 0; ///< Nodes of other rows that no training row has.
  /// Rows of edge types that no training row has.
  std::int64_t untrained = 0;
  /// Rows of links whose source has known links to all nodes, and whose
  /// destination has some from all: no negative is left of them at that end.
  std::array<std::int64_t, 2> without_others{};
};

/// The result of an inspection. Types as in `dataset_info`.
struct inspection {
  std::vector<node_type_inspection> node_types;
  std::vector<edge_type_inspection> edge_types;
  std::vector<task_inspection> tasks;
  /// One sentence per kind of damage and array, with the first place.
  std::vector<std::string> broken;
  std::vector<std::string> unused; ///< See `unused_arrays`.
};

struct inspect_options {
  /// Not empty: the dataset is one part of a partitioned one, with so many
  /// nodes per type in all. Then its sources are global ids, and out-degrees
  /// and largest degrees are those of the whole graph, so they are not checked.
  std::vector<std::int64_t> whole_counts;
  /// Of a part: the expected content of its files.
  std::vector<digest_record> records;
};

/// Compares records with the content of files.
/// @returns a sentence for each damaged file.
result<std::vector<std::string>>
find_damaged(std::span<const digest_record> records,
             const progress_callback& on_progress = {});

/// Reads every array once. Damage is part of the answer. An error is only what
/// prevents further reading, such as a file that was truncated meanwhile.
result<inspection> inspect_dataset(const dataset& data,
                                   const inspect_options& options = {},
                                   const progress_callback& on_progress = {});

} // namespace graphmill
