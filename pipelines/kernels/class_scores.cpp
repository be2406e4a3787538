#include "pipelines/kernels/class_scores.hpp"

#include "pipelines/flow/score_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

/// Counts equal pairs of a label and a prediction, in ascending order.
std::vector<confusion_count>
counted(std::vector<std::pair<std::int32_t, std::int32_t>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  std::vector<confusion_count> out;
  for (const auto& [label, predicted] : pairs) {
    if (out.empty() || out.back().label != label
        || out.back().predicted != predicted)
      out.push_back({label, predicted, 0});
    ++out.back().count;
  }
  return out;
}

/// The first of the likeliest classes but one.
std::int64_t likeliest_but(const float* row, std::int64_t classes,
                           std::int64_t but) {
  std::int64_t best = but == 0 && classes > 1 ? 1 : 0;
  for (std::int64_t c = best + 1; c < classes; ++c)
    if (c != but && row[c] > row[best])
      best = c;
  return best;
}

} // namespace

void log_odds(std::span<const float> logits, std::span<float> out) {
  const auto best = static_cast<std::size_t>(
    std::max_element(logits.begin(), logits.end()) - logits.begin());
  const double top = logits[best];
  double second = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < logits.size(); ++c)
    if (c != best)
      second = std::max(second, static_cast<double>(logits[c]));
  // Of all but the best, as parts of the best and of the second one.
  double rest = 0;
  double behind_best = 0;
  for (std::size_t c = 0; c < logits.size(); ++c)
    if (c != best) {
      rest += std::exp(logits[c] - top);
      behind_best += std::exp(logits[c] - second);
    }
  for (std::size_t c = 0; c < logits.size(); ++c)
    out[c] = static_cast<float>(
      c == best
        ? top - second - std::log(behind_best)
        : logits[c] - top - std::log1p(rest - std::exp(logits[c] - top)));
}

void apply_threshold(const_matrix logits, const threshold_choice& threshold,
                     std::vector<std::int64_t>& classes) {
  const auto of = static_cast<std::int64_t>(threshold.of);
  const auto width = static_cast<std::size_t>(logits.columns);
  std::vector<float> scores(width);
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto* row = logits.row(i);
    log_odds({row, width}, scores);
    auto& found = classes[static_cast<std::size_t>(i)];
    if (reaches(scores[static_cast<std::size_t>(of)],
                threshold.fixed.value_or(0.5)))
      found = of;
    else if (found == of) // The likeliest of all was the one.
      found = likeliest_but(row, logits.columns, of);
  }
}

bool takes_label(std::int64_t label, float logit,
                 const std::optional<threshold_choice>& threshold) {
  return threshold && threshold->of == label
           ? reaches(logit, threshold->fixed.value_or(0.5))
           : logit > 0;
}

seed_outcomes outcomes_of(const_matrix logits,
                          std::span<const std::int64_t> labels,
                          bool with_scores) {
  seed_outcomes out;
  out.classes = static_cast<std::int32_t>(logits.columns);
  const auto width = static_cast<std::size_t>(logits.columns);
  const auto counts = out.classes <= seed_outcomes::most_counted_classes;
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto label =
      static_cast<std::int32_t>(labels[static_cast<std::size_t>(i)]);
    if (label < 0)
      continue;
    const std::span row{logits.row(i), width};
    if (counts)
      pairs.emplace_back(
        label, static_cast<std::int32_t>(
                 std::max_element(row.begin(), row.end()) - row.begin()));
    if (with_scores) {
      out.labels.push_back(label);
      out.scores.resize(out.scores.size() + width);
      log_odds(row, std::span{out.scores}.last(width));
    }
  }
  out.confusion = counted(std::move(pairs));
  return out;
}

} // namespace graphmill
