#pragma once

#include "pipelines/compute/matrix.hpp"

namespace graphmill {

/// Matrix products by libtorch's BLAS, on as many threads as
/// `set_compute_threads` allows. May throw what libtorch throws.

/// c = a b + beta c
void multiply(const_matrix a, const_matrix b, float beta, matrix c);

/// c = transpose(a) b + beta c
void multiply_tn(const_matrix a, const_matrix b, float beta, matrix c);

/// c = a transpose(b) + beta c
void multiply_nt(const_matrix a, const_matrix b, float beta, matrix c);

} // namespace graphmill
