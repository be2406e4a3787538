#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Sums over edges of several relations at once, one for each basis b:
///
///   out[i][b] = sum over e in row i of
///                 factors[relations[e]][b] * values[e] * x[columns[e]]
///
/// side by side. Times a matrix for each basis, one below the other, it is the
/// sum of all relations' messages, whose weights are sums of these matrices
/// (Schlichtkrull et al., "Modeling relational data with graph convolutional
/// networks", ESWC'18). Borrows all arrays.
struct basis_sum {
  const std::int64_t* indptr = nullptr;    ///< [rows + 1]
  const local_id* columns = nullptr;       ///< Rows of `x`.
  const std::int32_t* relations = nullptr; ///< Rows of `factors`.
  const float* values = nullptr;
  const_matrix x;
  const_matrix factors; ///< [relations, bases]
};

/// Computes rows [begin, end). Different threads may compute different rows at
/// once. @param out [end - begin, bases * columns of x]
void sum_bases(const basis_sum& task, std::int64_t begin, std::int64_t end,
               matrix out);

/// Adds the gradients of the factors by rows [begin, end), in the order of
/// entries. @param gradient Of these rows, [end - begin, bases * columns of x].
/// @param out [relations, bases]
void add_factor_gradients(const basis_sum& task, std::int64_t begin,
                          std::int64_t end, const_matrix gradient, matrix out);

} // namespace graphmill
