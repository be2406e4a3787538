#pragma once

#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Layer normalisation (Ba, Kiros, Hinton, 2016) of each row, after adding a
/// bias:  z = (x + bias - mean) / sqrt(variance + 1e-5) * gain + shift.
struct layer_norm {
  const float* bias = nullptr;  ///< [columns]
  const float* gain = nullptr;  ///< [columns]
  const float* shift = nullptr; ///< [columns]
};

/// Rows [begin, end). `x` becomes the normalised rows before gain and shift,
/// which backward needs; `inverse_deviation[i]` is kept for it, too.
void normalise(const layer_norm& norm, std::int64_t begin, std::int64_t end,
               matrix x, float* inverse_deviation, matrix out);

/// Turns the gradient of the result into that of `x` before the bias, in place,
/// and adds to the gradients of gain and shift.
void normalise_backward(const layer_norm& norm, const_matrix normalised,
                        const float* inverse_deviation, std::int64_t begin,
                        std::int64_t end, matrix gradient, float* gain_gradient,
                        float* shift_gradient);

} // namespace graphmill
