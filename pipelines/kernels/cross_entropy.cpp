#include "pipelines/kernels/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

std::int64_t largest(const float* row, std::int64_t classes) {
  return std::max_element(row, row + classes) - row;
}

/// Softmax times its total of all classes but one, each of which is small where
/// that one is likely: a difference to 1 would lose them.
double share_of_others(const std::vector<double>& powers, std::int64_t label) {
  double sum = 0;
  for (std::size_t c = 0; c < powers.size(); ++c)
    if (c != static_cast<std::size_t>(label))
      sum += powers[c];
  return sum;
}

/// The gradient of one seed's loss, of another shape than the plain one.
/// @param powers Softmax times `total`. @param weight Of all that is written.
void shaped_gradient(const loss_shape& shape, std::int64_t label,
                     const std::vector<double>& powers, double total,
                     double weight, float* out) {
  const auto classes = powers.size();
  const auto& given = shape.class_weights;
  const auto own = given.empty() ? 1.0 : given[static_cast<std::size_t>(label)];
  const auto share = shape.smoothing / static_cast<double>(classes);
  double all = 0;
  for (std::size_t c = 0; c < classes; ++c)
    all += given.empty() ? 1.0 : given[c];
  auto sharp = (1 - shape.smoothing) * own;
  if (shape.focus > 0)
    sharp *= focal_factor(share_of_others(powers, label) / total, shape.focus);
  const auto pull = sharp + share * all;
  for (std::size_t c = 0; c < classes; ++c) {
    auto target = share * (given.empty() ? 1.0 : given[c]);
    if (c == static_cast<std::size_t>(label))
      target += sharp;
    out[c] = static_cast<float>(weight * (pull * powers[c] / total - target));
  }
}

} // namespace

/// The derivative of (1 - p)^g log p by a logit is that of log p times
/// (1 - p)^g - g p (1 - p)^(g - 1) log p.
double focal_factor(double wrong, double focus) {
  if (wrong <= 0)
    return 0;
  const auto power = std::pow(wrong, focus);
  if (wrong >= 1)
    return power;
  return power - focus * (1 - wrong) * power / wrong * std::log1p(-wrong);
}

double weight_of(std::span<const std::int64_t> labels,
                 std::span<const double> class_weights) {
  double sum = 0;
  for (const auto label : labels)
    if (label >= 0)
      sum += class_weights.empty()
               ? 1.0
               : class_weights[static_cast<std::size_t>(label)];
  return sum;
}

std::vector<double> balanced_weights(std::span<const std::int64_t> counts) {
  std::int64_t seeds = 0;
  std::int64_t classes = 0;
  for (const auto count : counts) {
    seeds += count;
    classes += count > 0 ? 1 : 0;
  }
  std::vector<double> out;
  for (const auto count : counts)
    out.push_back(count > 0 ? double(seeds) / (double(classes) * double(count))
                            : 0.0);
  return out;
}

batch_metrics cross_entropy(const_matrix logits,
                            std::span<const std::int64_t> labels, double weight,
                            matrix gradient, const loss_shape& shape) {
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
    if (!shape.plain()) {
      shaped_gradient(shape, label, powers, total, weight, g);
      continue;
    }
    for (std::int64_t c = 0; c < classes; ++c)
      g[c] = static_cast<float>(weight * powers[c] / total);
    g[label] = static_cast<float>(weight * (powers[label] / total - 1));
  }
  return sums;
}

void softmax(const_matrix logits, matrix out) {
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto* row = logits.row(i);
    const double most = row[largest(row, logits.columns)];
    double sum = 0;
    for (std::int64_t c = 0; c < logits.columns; ++c)
      sum += std::exp(row[c] - most);
    for (std::int64_t c = 0; c < logits.columns; ++c)
      out.row(i)[c] = static_cast<float>(std::exp(row[c] - most) / sum);
  }
}

void argmax(const_matrix logits, std::vector<std::int64_t>& out) {
  out.resize(static_cast<std::size_t>(logits.rows));
  for (std::int64_t i = 0; i < logits.rows; ++i)
    out[i] = largest(logits.row(i), logits.columns);
}

} // namespace graphmill
