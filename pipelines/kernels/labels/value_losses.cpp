#include "pipelines/kernels/labels/value_losses.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace graphmill {

namespace {

struct loss_of_value {
  double amount = 0;
  double slope = 0; ///< By what the model gives.
};

/// -1, 0 or 1; of what is no number the same.
double sign_of(double error) {
  return error > 0 ? 1 : error < 0 ? -1 : error;
}

loss_of_value loss_of_error(value_loss loss, double error) {
  switch (loss) {
  case value_loss::mse:
    return {error * error, 2 * error};
  case value_loss::mae:
    return {std::abs(error), sign_of(error)};
  case value_loss::huber:
    break;
  }
  if (std::abs(error) <= 1)
    return {error * error / 2, error};
  return {std::abs(error) - 0.5, sign_of(error)};
}

} // namespace

batch_metrics value_losses(const_matrix outputs, std::span<const float> labels,
                           value_loss loss, double weight, matrix gradient) {
  batch_metrics sums;
  const auto width = static_cast<std::size_t>(outputs.columns);
  const auto each = 1 / static_cast<double>(width);
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    const auto first = static_cast<std::size_t>(i) * width;
    auto* g = gradient.data == nullptr ? nullptr : gradient.row(i);
    if (std::isnan(labels[first])) {
      if (g != nullptr)
        std::fill(g, g + width, 0.0f);
      continue;
    }
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const auto one =
        loss_of_error(loss, double(outputs.row(i)[c]) - labels[first + c]);
      sum += one.amount;
      if (g != nullptr)
        g[c] = static_cast<float>(weight * each * one.slope);
    }
    sums.loss_sum += sum * each;
    ++sums.seeds;
  }
  return sums;
}

seed_outcomes value_outcomes_of(const_matrix outputs,
                                std::span<const float> labels) {
  seed_outcomes out;
  out.classes = static_cast<std::int32_t>(outputs.columns);
  out.form = outcome_form::values;
  const auto width = static_cast<std::size_t>(outputs.columns);
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    const auto first = static_cast<std::size_t>(i) * width;
    if (std::isnan(labels[first]))
      continue;
    const auto known = labels.subspan(first, width);
    out.values.insert(out.values.end(), known.begin(), known.end());
    out.scores.insert(out.scores.end(), outputs.row(i),
                      outputs.row(i) + outputs.columns);
  }
  return out;
}

} // namespace graphmill
