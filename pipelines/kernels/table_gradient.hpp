#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <span>

namespace graphmill {

/// Makes the gradient of a table of that of the rows that a batch took from it,
/// by sorting them by their place in the table. What was taken more than once,
/// in trees of a batch, has the sum of its gradients, in the order of the
/// batch.
/// @param gradient [ids, width] Of the rows as the batch has them.
/// @param ids Which row of the table each of them is.
/// @param out Empty; receives rows, ascending, and their gradients.
void set_table_gradient(const_matrix gradient, std::span<const node_id> ids,
                        gradient_set::sparse& out);

} // namespace graphmill
