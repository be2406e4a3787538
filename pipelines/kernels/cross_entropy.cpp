#include "pipelines/kernels/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

std::int64_t largest(const float* row, std::int64_t classes) {
  return std::max_element(row, row + classes) - row;
}

} // namespace

batch_metrics cross_entropy(const_matrix logits,
                            std::span<const std::int64_t> labels, double weight,
                            matrix gradient) {
  batch_metrics sums;
  const auto classes = logits.columns;
  std::vector<double> powers(static_cast<std::size_t>(classes));
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    auto* g = gradient.data == nullptr ? nullptr : gradient.row(i);
    if (label < 0) {
      if (g != nullptr)
        std::fill(g, g + classes, 0.0f);
      continue;
    }
    const auto* row = logits.row(i);
    const auto best = largest(row, classes);
    // The largest logit is taken off all of them, and added to the logarithm
    // again below, so that exp does not grow to infinity.
    double total = 0;
    for (std::int64_t c = 0; c < classes; ++c)
      total += powers[c] = std::exp(double(row[c]) - row[best]);
    sums.loss_sum += std::log(total) + row[best] - row[label];
    sums.correct += best == label;
    ++sums.seeds;
    if (g == nullptr)
      continue;
    for (std::int64_t c = 0; c < classes; ++c)
      g[c] = static_cast<float>(weight * powers[c] / total);
    g[label] = static_cast<float>(weight * (powers[label] / total - 1));
  }
  return sums;
}

void argmax(const_matrix logits, std::vector<std::int64_t>& out) {
  out.resize(static_cast<std::size_t>(logits.rows));
  for (std::int64_t i = 0; i < logits.rows; ++i)
    out[i] = largest(logits.row(i), logits.columns);
}

} // namespace graphmill
