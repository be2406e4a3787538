#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/shard.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// A seed of a task: its position in the task's table, from 0. It does not
/// depend on how the graph is partitioned.
using seed_row = std::int64_t;

/// What rows that are edges have besides their nodes. Owns nothing.
struct edge_rows {
  /// Lists that rows share. Those of row `r` are numbers `rows[r * lists + i]`.
  struct shared_lists {
    std::span<const std::int64_t> rows; ///< Empty: there are no lists.
    std::span<const std::int64_t> indptr;
    std::span<const std::int64_t> ids;

    bool empty() const { return rows.empty(); }
    /// List number `list`, as a range of entries.
    std::pair<std::size_t, std::size_t> range(std::int64_t list) const {
      const auto* at = indptr.data() + list;
      return {static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1])};
    }
  };

  split which = split::train;
  /// Source and destination type of each place in the task's `edge_types`.
  std::vector<std::array<node_type_id, 2>> ends;
  /// [rows] Places in the task's `edge_types`; empty: all are the first.
  std::span<const std::int32_t> relations;
  std::span<const edge_id> ids;          ///< [rows] Original.
  std::span<const float> weights;        ///< [rows] Empty: all are 1.
  std::span<const std::int64_t> classes; ///< [rows] Of edges with classes.
  /// [rows, `label_bytes`] Of edges with rows of labels.
  std::span<const std::uint8_t> label_rows;
  std::size_t label_bytes = 0;
  /// [rows, `given`] Given wrong destinations, global ids.
  std::span<const node_id> negatives;
  std::size_t given = 0;
  /// Edges that a row must not see, by original ids; one list of each row.
  shared_lists excluded;
  std::span<const std::int32_t> excluded_types; ///< [entries] Edge types.
  /// [entries] Where each ends: 0 at the row's destination, 1 at its source.
  std::span<const std::uint8_t> excluded_ends;
  /// Global ids, ascending: the destinations known with a row's source, and the
  /// sources known with its destination; two lists of each row.
  shared_lists known;

  std::size_t relation(seed_row row) const {
    return relations.empty() ? 0
                             : static_cast<std::size_t>(
                               relations[static_cast<std::size_t>(row)]);
  }
};

/// The seeds of a split: a table with a row for each of them. Its columns are
/// the nodes that a seed consists of: one where nodes are classified, two where
/// it is a pair or an edge, first its source. Rows keep the original order of
/// the split. Value type; it never changes while a plan or a batch refers to
/// it.
struct seed_table {
  /// A node of each row.
  struct column {
    node_type_id type = 0;          ///< Unless `types` says it.
    std::span<const node_id> nodes; ///< [rows] Global ids, of the row's type.
    /// [rows] The type of each row's node; empty: `type`.
    std::span<const node_type_id> types{};

    node_type_id type_of(seed_row row) const {
      return types.empty() ? type : types[static_cast<std::size_t>(row)];
    }
    node_id node_of(seed_row row) const {
      return nodes[static_cast<std::size_t>(row)];
    }
  };

  std::vector<column> columns;                 ///< All equally long.
  std::shared_ptr<const void> keeps = nullptr; ///< What the columns lie in.
  std::optional<edge_rows> edges{};            ///< If rows are edges.
  /// [rows] In ticks; empty: rows have no times.
  std::span<const std::int64_t> times{};

  std::int64_t rows() const {
    return columns.empty() ? 0 : std::ssize(columns.front().nodes);
  }
};

/// The seeds of a split. Of the target type: one column, each node once. Of a
/// graph with a task: its rows, with two columns. Keeps the graph.
std::shared_ptr<const seed_table>
table_of(std::shared_ptr<const partitioned_graph> graph, split which);

/// These nodes of the target type, with their times. Keeps them.
/// @param nodes Global ids, each once.
std::shared_ptr<const seed_table>
table_of(const partitioned_graph& graph,
         std::shared_ptr<const std::vector<node_id>> nodes);

/// Fails unless times of rows ascend, for a run in which all rows of a step see
/// what was before the earliest of them: in another order that would be little.
/// @param what The rows, for the error, such as "training rows of \"x\"".
/// @param of_step How many rows a step has, of all trainers.
result<void> check_order_of_time(const seed_table& table, std::string_view what,
                                 std::int64_t of_step);

/// The rows of a split of a task. They are checked (`check_rows`).
/// @param keeps What the arrays lie in.
/// @param hides_labels Whether rows come without the labels that they have.
std::shared_ptr<const seed_table>
table_of(const dataset_info& info, const edge_task_info& task, split which,
         const task_split_arrays& arrays, std::shared_ptr<const void> keeps,
         bool hides_labels = false);

/// An edge that a user names, which the graph need not have.
struct named_edge {
  node_id source = 0; ///< Original ids.
  node_id destination = 0;
  std::int32_t relation = 0; ///< Place in the task's `edge_types`.
};

/// Such edges as rows without labels, whose ids are their positions, and whose
/// time is after that of all edges. Reads the
/// maps of ids of a graph in parts. @pre The graph has a task, and the edges
/// nodes and relations of it.
result<std::shared_ptr<const seed_table>>
table_of(const partitioned_graph& graph, std::span<const named_edge> edges);

} // namespace graphmill
