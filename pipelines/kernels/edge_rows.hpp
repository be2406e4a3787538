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

/// Rows of sources and of edges, added up and cut off below 0 (GINE):
///
///   out[i] = self * x[i] + sum over e, that leads to j, in row i of
///                          values[e] * relu(x[j] + edges[e])
///
/// Borrows all arrays.
struct edge_relu {
  const std::int64_t* indptr = nullptr; ///< [rows + 1], rows of `edges`.
  const local_id* columns = nullptr;    ///< [edges] Rows of `x`.
  const_matrix x;
  const_matrix edges;            ///< [edges, columns of x]
  const float* values = nullptr; ///< [edges]; null: all one.
  float self = 1;
};

/// Computes rows [begin, end). @param out [rows, columns of x]
void run(const edge_relu& task, std::int64_t begin, std::int64_t end,
         matrix out);

/// Replaces the edges' rows of rows [begin, end) by their gradients.
/// @param gradient [rows, columns of x] Of the output.
/// @param edges The memory of `task.edges`.
void edge_relu_backward(const edge_relu& task, const_matrix gradient,
                        std::int64_t begin, std::int64_t end, matrix edges);

} // namespace graphmill
