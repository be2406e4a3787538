#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <span>

namespace graphmill {

/// The gradient of a table from that of the rows that a batch took from it.
/// @param ids The rows of the table, distinct. @param out Empty.
void set_table_gradient(const_matrix gradient, std::span<const node_id> ids,
                        gradient_set::sparse& out);

} // namespace graphmill
