#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Sums of rows that edges have of their own:
///
///   out[i] = row_scale[i] * sum over e, that leads to j, in row i of
///                           values[e] * column_scale[j] * x[e]
///
/// As `gather_sum`, but for what is summed. Borrows all arrays.
struct edge_sum {
  const std::int64_t* indptr = nullptr; ///< [rows + 1], rows of `x`.
  const local_id* columns = nullptr;    ///< [edges] With `column_scale`.
  const_matrix x;                       ///< [edges, any]
  const float* row_scale = nullptr;     ///< [rows]
  const float* column_scale = nullptr;  ///< Null: all one.
  const float* values = nullptr;        ///< [edges]; null: all one.
};

/// Computes rows [begin, end). @param out [rows, columns of x]
void run(const edge_sum& task, std::int64_t begin, std::int64_t end,
         matrix out);

/// Adds what rows [begin, end) have of the gradient of some columns of x.
/// @param gradient [rows, these columns] Of the sums.
/// @param into [edges, these columns]
void edge_sum_backward(const edge_sum& task, const_matrix gradient,
                       std::int64_t begin, std::int64_t end, matrix into);

} // namespace graphmill
