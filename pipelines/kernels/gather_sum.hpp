#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// A sparse matrix in CSR times a dense one:
///
///   out[i] = row_scale[i] * sum over e, that leads to j, in row i of
///                           values[e] * column_scale[j] * x[j]
///
/// `values` are weights of edges, or features. Where all of them are 1, bits
/// are those of a sum without. Each row is summed by one thread, in the order
/// of its columns, so the result is the same for any number of threads. The
/// aggregation of a graph layer is this over the blocks; its backward is this
/// over the transposed CSR. Borrows all arrays.
struct gather_sum {
  const std::int64_t* indptr = nullptr; ///< [rows + 1], positions in `columns`.
  const local_id* columns = nullptr;    ///< Rows of `x`.
  const_matrix x;
  const float* row_scale = nullptr;    ///< [rows]; null: all one.
  const float* column_scale = nullptr; ///< [rows of x]; null: all one.
  const float* values = nullptr;       ///< As `columns`; null: all one.
};

/// Computes rows [begin, end) of `out`: rows below `accumulate` are added to
/// what is there, the others are overwritten. Different threads may compute
/// different rows at once.
/// @param out [rows, columns of x]
void run(const gather_sum& task, std::int64_t begin, std::int64_t end,
         std::int64_t accumulate, matrix out);

/// out[i] = scale[i] * x[i] for rows [begin, end).
/// @param scale [rows] @param out [rows, columns of x]; may be the memory of x.
void scale_rows(const_matrix x, const float* scale, std::int64_t begin,
                std::int64_t end, matrix out);

/// out += x. @param x, out [rows, columns]
void add_rows(const_matrix x, matrix out);

} // namespace graphmill
