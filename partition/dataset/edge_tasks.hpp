#pragma once

#include "messages/base/ids.hpp"
#include "partition/dataset/label_kinds.hpp"
#include "partition/files/npy/npy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// What a task learns of edges.
enum class edge_task_kind : std::uint8_t {
  link,        ///< Whether there is an edge between two nodes.
  edge_class,  ///< Its class.
  edge_labels, ///< Any of several labels.
  edge_value   ///< Its numbers.
};

/// Everything that distinguishes one kind from the others in files. Code that
/// depends on the kind asks its traits, and names no kind.
struct edge_task_traits {
  edge_task_kind kind = edge_task_kind::link;
  std::string_view name; ///< The word in files.
  /// What rows have for labels; nothing: they have none.
  std::optional<label_kind> labels{};
  /// Rows are told from negatives, instead of by labels. So training rows have
  /// lists of edges to exclude, and others of known links.
  bool negatives = false;
  std::string_view learns{}; ///< For sentences.
};

/// The traits of all kinds, by the value of the kind.
inline constexpr std::array all_edge_task_kinds{
  edge_task_traits{.kind = edge_task_kind::link,
                   .name = "link",
                   .negatives = true,
                   .learns = "predicts links"},
  edge_task_traits{.kind = edge_task_kind::edge_class,
                   .name = "edge_class",
                   .labels = label_kind::classes,
                   .learns = "learns classes of edges"},
  edge_task_traits{.kind = edge_task_kind::edge_labels,
                   .name = "edge_labels",
                   .labels = label_kind::multi_label,
                   .learns = "learns labels of edges"},
  edge_task_traits{.kind = edge_task_kind::edge_value,
                   .name = "edge_value",
                   .labels = label_kind::regression,
                   .learns = "learns numbers of edges"},
};

constexpr const edge_task_traits& traits_of(edge_task_kind kind) {
  return all_edge_task_kinds[static_cast<std::size_t>(kind)];
}
static_assert(std::all_of(all_edge_task_kinds.begin(),
                          all_edge_task_kinds.end(),
                          [](const edge_task_traits& of) {
                            return &traits_of(of.kind) == &of;
                          }));

/// A task of edges, as `dataset.json` has it. Its rows are edges of the graph,
/// in splits. Value type.
struct edge_task_info {
  std::string name;
  edge_task_kind kind = edge_task_kind::link;
  std::vector<edge_type_id> edge_types; ///< Of the rows; at least one.
  /// For each of `edge_types` the type that has the same edges the other way
  /// round; nothing: there is none. A type of both directions is its own.
  std::vector<std::optional<edge_type_id>> reverse_types;
  /// Classes, or labels or numbers of a row; 0 for links.
  std::int64_t class_count = 0;
  std::vector<std::string> class_names{}; ///< Empty, or one for each of these.
  bool timed = false;                     ///< Whether rows have times.
  bool weighted = false;                  ///< Whether rows have weights.
  std::array<std::int64_t, 3> split_counts{};    ///< Rows.
  std::array<std::int64_t, 3> negative_counts{}; ///< Given ones of each row.
  /// Rows of the test split without a label: they are predicted, and no metric
  /// counts them. Other splits have none.
  std::int64_t unlabelled = 0;
};

struct dataset_info;
/// Whether rows have the times of their edges, in ticks: all edge types of the
/// task have times.
bool has_edge_times(const dataset_info& info, const edge_task_info& task);

/// Lists of edges that rows of links exclude as targets: all edges between the
/// nodes of the row, itself among them, in its type and the reverse type. If
/// the type joins nodes of one type, in both directions of each. Rows of the
/// same nodes share a list.
struct exclude_arrays {
  npy_array rows;   ///< [rows] int64, the list of each row
  npy_array indptr; ///< [lists + 1] int64
  npy_array ids;    ///< [entries] int64, edges by their original ids
  npy_array types;  ///< [entries] int32, edge types of the dataset
  npy_array ends;   ///< [entries] uint8, where the edge ends: 0 at the row's
                    ///< destination, 1 at its source
};

/// Lists of nodes to which links are known in any split, for filters. Rows
/// share lists.
struct known_arrays {
  npy_array rows;   ///< [rows, 2] int64: the list of destinations that are
                    ///< known with the row's source, and of sources that are
                    ///< known with its destination, both in its edge type
  npy_array indptr; ///< [lists + 1] int64
  npy_array ids;    ///< [entries] int64, ascending in each list, each once
};

/// One split of a task.
struct task_split_arrays {
  npy_array edges;                    ///< [rows, 2] int64, source, destination
  npy_array ids;                      ///< [rows] int64, original ids of edges
  std::optional<npy_array> types;     ///< [rows] int32, places in `edge_types`;
                                      ///< only where there are several
  std::optional<npy_array> labels;    ///< As `label_kind` describes.
  std::optional<npy_array> times;     ///< [rows] float64, finite
  std::optional<npy_array> weights;   ///< [rows] float32, as of edges
  std::optional<npy_array> negatives; ///< [rows, any] int64, nodes of the
                                      ///< destination's type
  std::optional<exclude_arrays> exclude; ///< Of links, in training.
  std::optional<known_arrays> known;     ///< Of links, but in training.

  /// Those that are there, in a fixed order, each with its name behind the
  /// split's: "edges", "exclude.indptr".
  std::vector<std::pair<std::string_view, const npy_array*>> all() const;
};

/// A task with its rows. Splits without rows have no arrays.
struct task_arrays {
  std::array<std::optional<task_split_arrays>, 3> splits;
};

/// "tasks/<task>/<split>.<name>.npy", within the folder of a dataset.
/// @param split_stem `file_stem` of the split.
std::filesystem::path task_file(std::string_view task,
                                std::string_view split_stem,
                                std::string_view name);

} // namespace graphmill
