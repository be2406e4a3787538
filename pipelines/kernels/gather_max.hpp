#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// What stands in the place of a source where a row has none.
inline constexpr local_id no_winner = -1;

/// The largest value of each column over the rows that a row of a CSR names:
///
///   out[i][c] = max over j in row i of x[j][c]
///
/// and zeros for rows without any. Of equal values the first one in the order
/// of the row's columns wins, and it alone gets the gradient; so the result is
/// the same for any number of threads, and so is its gradient. Borrows all
/// arrays.
struct gather_max {
  const std::int64_t* indptr = nullptr; ///< [rows + 1], positions in `columns`.
  const local_id* columns = nullptr;    ///< Rows of `x`.
  const_matrix x;
};

/// Computes rows [begin, end) of `out`. A NaN is larger than all numbers, so
/// that none is lost. Different threads may compute different rows at once.
/// @param out [rows, columns of x]
/// @param winners [rows, columns of x] Receives which row of `x` each value is
/// of, or `no_winner`.
void run(const gather_max& task, std::int64_t begin, std::int64_t end,
         matrix out, local_id* winners);

/// Backward of `gather_max`, by source: rows of the gradient are summed by one
/// thread each, in the order of destinations. Borrows all arrays.
struct winner_sum {
  const std::int64_t* indptr = nullptr; ///< [rows of x + 1]
  /// Destinations, ascending within a row. One that names a source several
  /// times is listed as often, and counts once.
  const local_id* columns = nullptr;
  const local_id* winners = nullptr; ///< [destinations, columns of x]
  const_matrix gradient;             ///< Of the result of `gather_max`.
};

/// Computes rows [begin, end) of the gradient of x: rows below `accumulate` are
/// added to what is there, the others are overwritten.
/// @param out [rows of x, columns of x]
void run(const winner_sum& task, std::int64_t begin, std::int64_t end,
         std::int64_t accumulate, matrix out);

} // namespace graphmill
