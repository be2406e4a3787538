#pragma once

#include "messages/base/ids.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// A seed of a task: its position in the task's table, from 0. It does not
/// depend on how the graph is partitioned.
using seed_row = std::int64_t;

/// The seeds of a split: a table with a row for each of them. Its columns are
/// the nodes that a seed consists of: one where nodes are classified, two where
/// it is a pair or an edge. Rows keep the original order of the split. Value
/// type; it never changes while a plan or a batch refers to it.
struct seed_table {
  /// A node of each row, all of one type.
  struct column {
    node_type_id type = 0;
    std::span<const node_id> nodes; ///< [rows] Global ids, all of the type.
  };

  std::vector<column> columns;                 ///< All equally long.
  std::shared_ptr<const void> keeps = nullptr; ///< What the columns lie in.

  std::int64_t rows() const {
    return columns.empty() ? 0 : std::ssize(columns.front().nodes);
  }
};

/// The seeds of a split of the target type: one column, each node once. Keeps
/// the graph.
std::shared_ptr<const seed_table>
table_of(std::shared_ptr<const partitioned_graph> graph, split which);

/// These nodes of the target type. Keeps them.
/// @param nodes Global ids, each once.
std::shared_ptr<const seed_table>
table_of(const dataset_info& info,
         std::shared_ptr<const std::vector<node_id>> nodes);

} // namespace graphmill
