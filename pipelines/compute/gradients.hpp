#pragma once

#include "messages/ids.hpp"
#include "pipelines/compute/matrix.hpp"
#include "pipelines/replica.hpp"

#include <span>
#include <vector>

namespace graphmill {

/// The gradient of a table from that of the rows that a batch took from it.
/// @param ids The rows of the table, distinct. @param out Empty.
void set_table_gradient(const_matrix gradient, std::span<const node_id> ids,
                        gradient_set::sparse& out);

/// What `add` does with tables. Rows ascend.
void add_tables(std::vector<gradient_set::sparse>& into,
                const std::vector<gradient_set::sparse>& from);

} // namespace graphmill
