#include "pipelines/kernels/layer_norm.hpp"

#include "pipelines/kernels/activation.hpp"

#include <cmath>

namespace graphmill {

void normalise(const layer_norm& norm, std::int64_t begin, std::int64_t end,
               matrix x, float* inverse_deviation, matrix out) {
  const auto width = x.columns;
  for (auto i = begin; i < end; ++i) {
    auto* row = x.row(i);
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) {
      row[c] += norm.bias[c];
      sum += row[c];
    }
    const auto mean = sum / static_cast<double>(width);
    double squares = 0;
    for (std::int64_t c = 0; c < width; ++c)
      squares += (row[c] - mean) * (row[c] - mean);
    const auto inverse =
      1 / std::sqrt(squares / static_cast<double>(width) + 1e-5);
    inverse_deviation[i] = static_cast<float>(inverse);
    for (std::int64_t c = 0; c < width; ++c) {
      row[c] = static_cast<float>((row[c] - mean) * inverse);
      out.row(i)[c] = row[c] * norm.gain[c] + norm.shift[c];
    }
  }
}

void normalise_backward(const layer_norm& norm, const_matrix normalised,
                        const float* inverse_deviation, std::int64_t begin,
                        std::int64_t end, matrix gradient, float* gain_gradient,
                        float* shift_gradient) {
  const auto width = normalised.columns;
  // Before the loop, which overwrites the gradient of the result.
  add_column_sums(gradient, begin, end, shift_gradient);
  for (auto i = begin; i < end; ++i) {
    auto* g = gradient.row(i);
    const auto* x = normalised.row(i);
    double sum = 0;
    double dot = 0;
    for (std::int64_t c = 0; c < width; ++c) {
      gain_gradient[c] += g[c] * x[c];
      g[c] *= norm.gain[c];
      sum += g[c];
      dot += double(g[c]) * x[c];
    }
    // Mean and deviation depend on each value of the row: what the gradient has
    // along a constant row and along the normalised row itself is taken off.
    sum /= static_cast<double>(width);
    dot /= static_cast<double>(width);
    for (std::int64_t c = 0; c < width; ++c)
      g[c] =
        static_cast<float>((g[c] - sum - x[c] * dot) * inverse_deviation[i]);
  }
}

} // namespace graphmill
