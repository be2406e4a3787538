#pragma once

#include "messages/base/ids.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace graphmill {

/// Some rows of a seed table, as a batch takes them: the nodes that it is
/// sampled around, and which of them each row consists of. Nodes are in the
/// order of their first appearance, row by row. Each is there once, unless the
/// table has a single column and a node in it twice. Value type.
struct seed_batch : batch_seeds {
  std::size_t columns = 0;      ///< Of the table.
  std::vector<local_id> locals; ///< [rows, columns] Of the column's type.

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
