#pragma once

#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Consecutive rows of one edge type, by whose ends a run tells the outputs of
/// all nodes of these types. Row i of a block has node i of either type. Of
/// edges within a type it has the nodes 2 i and 2 i + 1, so that each is
/// computed once. Where one end has fewer nodes, its last one is repeated.
/// Value type.
struct output_block {
  std::int32_t relation = 0; ///< Place in the task's `edge_types`.
  std::array<node_type_id, 2> types{};
  /// Nodes that are told at each end; 0: another block tells them, and all rows
  /// have the first one. Of edges within a type both are all nodes.
  std::array<std::int64_t, 2> counts{};
  std::int64_t first = 0; ///< Row of the run.

  bool within_type() const { return types[0] == types[1]; }
  std::int64_t rows() const;
  /// The original id of the node at an end of row `i` of this block.
  node_id node(std::int64_t i, std::size_t end) const;

  friend bool operator==(const output_block&, const output_block&) = default;
};

/// Blocks that have each node at an end of the edges of a task, each in the
/// first edge type that has its type. Edge types between types of which one is
/// empty have no rows.
/// @pre `info.chosen_task`
std::vector<output_block> output_blocks(const dataset_info& info);

/// Rows of all blocks together.
std::int64_t rows_of(std::span<const output_block> blocks);

/// Their rows, by original ids.
std::vector<named_edge> edges_of(std::span<const output_block> blocks);

} // namespace graphmill
