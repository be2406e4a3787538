#include "pipelines/kernels/labels/binary_cross_entropy.hpp"

#include "partition/dataset/dataset.hpp"
#include "pipelines/kernels/cross_entropy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace graphmill {

namespace {

/// 1 / (1 + exp(-x)), without a power that grows to infinity.
double probability_of(double logit) {
  const auto power = std::exp(-std::abs(logit));
  return (logit >= 0 ? 1 : power) / (1 + power);
}

/// The labels of a row; empty if nothing is known of them.
std::span<const std::uint8_t> labels_of(std::span<const std::uint8_t> labels,
                                        std::int64_t row, std::size_t width) {
  const auto out = labels.subspan(static_cast<std::size_t>(row) * width, width);
  return out.front() == no_labels ? std::span<const std::uint8_t>{} : out;
}

} // namespace

batch_metrics binary_cross_entropy(const_matrix logits,
                                   std::span<const std::uint8_t> labels,
                                   double weight, matrix gradient,
                                   double focus) {
  batch_metrics sums;
  const auto width = static_cast<std::size_t>(logits.columns);
  const auto each = 1 / static_cast<double>(width);
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto known = labels_of(labels, i, width);
    auto* g = gradient.data == nullptr ? nullptr : gradient.row(i);
    if (known.empty()) {
      if (g != nullptr)
        std::fill(g, g + width, 0.0f);
      continue;
    }
    const auto* row = logits.row(i);
    double loss = 0;
    auto right = true;
    for (std::size_t c = 0; c < width; ++c) {
      const double x = row[c];
      const auto has = known[c] == 1;
      // log (1 + exp(x)) - x * has, with no power above 1.
      loss +=
        std::max(x, 0.0) - (has ? x : 0.0) + std::log1p(std::exp(-std::abs(x)));
      right = right && (x > 0) == has;
      if (g == nullptr)
        continue;
      auto slope = weight * each * (probability_of(x) - (has ? 1.0 : 0.0));
      if (focus > 0)
        slope *= focal_factor(probability_of(has ? -x : x), focus);
      g[c] = static_cast<float>(slope);
    }
    sums.loss_sum += loss * each;
    sums.correct += right ? 1 : 0;
    ++sums.seeds;
  }
  return sums;
}

void logistic(const_matrix logits, matrix out) {
  for (std::int64_t i = 0; i < logits.rows; ++i)
    for (std::int64_t c = 0; c < logits.columns; ++c)
      out.row(i)[c] = static_cast<float>(probability_of(logits.row(i)[c]));
}

seed_outcomes label_outcomes_of(const_matrix logits,
                                std::span<const std::uint8_t> labels,
                                bool with_scores) {
  seed_outcomes out;
  out.classes = static_cast<std::int32_t>(logits.columns);
  out.form = outcome_form::labels;
  const auto width = static_cast<std::size_t>(logits.columns);
  std::vector<std::array<std::int32_t, 4>> counts(width);
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto known = labels_of(labels, i, width);
    if (known.empty())
      continue;
    const std::span row{logits.row(i), width};
    const auto words = out.labels.size();
    if (with_scores) {
      out.labels.resize(words + out.label_words());
      out.scores.insert(out.scores.end(), row.begin(), row.end());
    }
    for (std::size_t c = 0; c < width; ++c) {
      const auto has = known[c] == 1;
      const auto predicted = row[c] > 0;
      ++counts[c]
              [has
                 ? (predicted ? seed_outcomes::right : seed_outcomes::missed)
                 : (predicted ? seed_outcomes::wrong : seed_outcomes::absent)];
      if (with_scores && has)
        out.labels[words + c / 32] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(out.labels[words + c / 32])
          | std::uint32_t{1} << (c % 32));
    }
  }
  for (std::size_t c = 0; c < width; ++c)
    for (std::int32_t outcome = 0; outcome < 4; ++outcome)
      if (const auto count = counts[c][static_cast<std::size_t>(outcome)];
          count > 0)
        out.confusion.push_back({static_cast<std::int32_t>(c), outcome, count});
  return out;
}

} // namespace graphmill
