#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <memory>

namespace graphmill {

/// Rows that go through a layer together: what is computed of them stays in a
/// core's cache from the first product to the dropout.
inline constexpr std::int64_t chunk_rows = 1024;

/// Matrix products by BLAS, each on the calling thread if
/// `keep_libraries_single_threaded` was called. They throw std::length_error if
/// a side has more than 2^31 - 1 elements.

/// c = a b + beta c
void multiply(const_matrix a, const_matrix b, float beta, matrix c);

/// c = transpose(a) b + beta c
void multiply_tn(const_matrix a, const_matrix b, float beta, matrix c);

/// c = a transpose(b) + beta c
void multiply_nt(const_matrix a, const_matrix b, float beta, matrix c);

/// c = a b, in chunks of rows.
void multiply(thread_team& team, const_matrix a, const_matrix b, matrix c);

/// c = a transpose(b) + beta c, in chunks of rows.
void multiply_nt(thread_team& team, const_matrix a, const_matrix b, matrix c,
                 float beta = 0);

/// c += transpose(a) b, as the sum of a few products over fixed pieces of rows,
/// so that it is the same for any number of threads.
void add_product_tn(thread_team& team, const_matrix a, const_matrix b, matrix c,
                    const std::shared_ptr<buffer_pool>& pool);

/// The sum of a[i, c] b[i, c] over the first `rows` rows, in their order.
double inner_product(const_matrix a, const_matrix b, std::int64_t rows);

} // namespace graphmill
