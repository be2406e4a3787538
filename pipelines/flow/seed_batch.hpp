#pragma once

#include "messages/base/ids.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Some rows of a seed table, as a batch takes them: the nodes that it is
/// sampled around, and which of them each row consists of. Nodes are in the
/// order of their first appearance, row by row. Each is there once, unless the
/// table has a single column and a node in it twice. Value type.
struct seed_batch : batch_seeds {
  /// In place of a negative that does not exist. Only in evaluations: all
  /// candidates are known links.
  static constexpr local_id none = -1;

  /// Of the table; for links also the negatives of each row, behind the ends of
  /// the edge: those that replace the destination, then the source.
  std::size_t columns = 0;
  std::vector<local_id> locals; ///< [rows, columns] Of the column's type.

  // Of tasks of edges.
  std::size_t wrong_destinations = 0; ///< Negatives of each row.
  std::size_t wrong_sources = 0;      ///< Likewise.
  /// [rows] Places in the task's `edge_types`; empty: all are the first.
  std::vector<std::int32_t> relations;
  std::vector<float> weights;        ///< [rows] Empty: all are 1.
  std::vector<std::int64_t> classes; ///< [rows] Of edges with classes.
  /// [rows, `label_bytes()`] Of edges with rows of labels.
  std::vector<std::uint8_t> label_rows;
  /// Negatives that all rows of the step share, by node type: they replace
  /// destinations, or sources, of that type.
  std::vector<std::vector<local_id>> joint_destinations;
  std::vector<std::vector<local_id>> joint_sources;

  std::size_t rows() const {
    return columns == 0 ? 0 : locals.size() / columns;
  }
};

/// Takes rows of a table, in the given order. With a single column, nodes are
/// taken as they are, without a search for repetitions, for the table has each
/// of them once; sampling refuses a batch in which one is repeated.
/// @param rows Of the table.
seed_batch batch_of(const seed_table& table, std::span<const seed_row> rows,
                    const dataset_info& info);

} // namespace graphmill
