#pragma once

#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Layer normalisation (Ba, Kiros, Hinton, 2016) of each row, after adding a
/// bias:  z = (x + bias - mean) / sqrt(variance + 1e-5) * gain + shift.
/// Mean and variance are those of the row x + bias, made in double precision;
/// the variance is divided by the number of columns. Borrows its arrays, none
/// of which may be null.
struct layer_norm {
  const float* bias = nullptr;  ///< [columns]
  const float* gain = nullptr;  ///< [columns]
  const float* shift = nullptr; ///< [columns]
};

/// Computes rows [begin, end). Different threads may compute different rows at
/// once.
/// @param x [rows, columns] Becomes the normalised rows before gain and shift,
/// which backward needs.
/// @param inverse_deviation [rows] Receives 1 / sqrt(variance + 1e-5), which
/// backward needs, too.
/// @param out [rows, columns]
void normalise(const layer_norm& norm, std::int64_t begin, std::int64_t end,
               matrix x, float* inverse_deviation, matrix out);

/// Turns the gradient of the result into that of x + bias, in place, for rows
/// [begin, end), and adds what these rows bring to the gradients of gain and
/// shift. Threads that work at once need sums of their own for these two.
/// @param normalised, inverse_deviation What `normalise` has left.
/// @param gradient [rows, columns]
/// @param gain_gradient, shift_gradient [columns]
void normalise_backward(const layer_norm& norm, const_matrix normalised,
                        const float* inverse_deviation, std::int64_t begin,
                        std::int64_t end, matrix gradient, float* gain_gradient,
                        float* shift_gradient);

} // namespace graphmill
