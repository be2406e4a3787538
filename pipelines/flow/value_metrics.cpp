#include "pipelines/flow/value_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graphmill {

double value_result::rmse() const {
  return std::sqrt(mse);
}

value_result result_of(std::vector<std::pair<float, float>> pairs) {
  // What is no number has no order.
  if (!std::ranges::all_of(
        pairs, [](const auto& pair) { return std::isfinite(pair.second); })) {
    constexpr auto none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, std::nullopt};
  }
  std::ranges::sort(pairs);
  const auto count = static_cast<double>(pairs.size());
  double labels = 0;
  double squares = 0;
  double amounts = 0;
  for (const auto& [label, predicted] : pairs) {
    const auto error = double(predicted) - label;
    labels += label;
    squares += error * error;
    amounts += std::abs(error);
  }
  const auto mean = labels / count;
  double around_mean = 0;
  for (const auto& [label, predicted] : pairs)
    around_mean += (label - mean) * (label - mean);
  value_result out{squares / count, amounts / count, std::nullopt};
  if (pairs.front().first < pairs.back().first)
    out.r2 = 1 - squares / around_mean;
  return out;
}

} // namespace graphmill
