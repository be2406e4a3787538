#include "pipelines/flow/score_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

namespace graphmill {

std::optional<double> share_of(std::int64_t part, std::int64_t whole) {
  if (whole == 0)
    return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

namespace {

/// The distinct scores of the seeds of a class, ascending, and where the other
/// seeds lie between them.
struct score_steps {
  std::vector<float> values;
  std::vector<std::int64_t> own;   ///< Seeds of the class with that score.
  std::vector<std::int64_t> equal; ///< Others with that score.
  std::vector<std::int64_t> below; ///< Others between it and the one before;
                                   ///< the last entry: above all of them.
};

score_steps steps_of(std::vector<float> own) {
  score_steps out;
  std::sort(own.begin(), own.end());
  for (const auto score : own) {
    if (out.values.empty() || out.values.back() != score) {
      out.values.push_back(score);
      out.own.push_back(0);
    }
    ++out.own.back();
  }
  out.equal.resize(out.values.size());
  out.below.resize(out.values.size() + 1);
  return out;
}

void add_other(score_steps& to, float score) {
  const auto at = std::lower_bound(to.values.begin(), to.values.end(), score);
  const auto step = static_cast<std::size_t>(at - to.values.begin());
  ++(at != to.values.end() && *at == score ? to.equal : to.below)[step];
}

/// Twice the pairs that are in order, for a tie is one half.
std::int64_t pairs_in_order(const score_steps& of) {
  std::int64_t twice = 0;
  std::int64_t less = 0;
  for (std::size_t i = 0; i < of.values.size(); ++i) {
    less += of.below[i];
    twice += of.own[i] * (2 * less + of.equal[i]);
    less += of.equal[i];
  }
  return twice;
}

double precision_on_average(const score_steps& of, std::int64_t all_own) {
  double sum = 0;
  std::int64_t found = 0;
  std::int64_t wrong = of.below.back();
  for (auto i = of.values.size(); i-- > 0;) {
    found += of.own[i];
    wrong += of.equal[i];
    sum += static_cast<double>(of.own[i]) * static_cast<double>(found)
           / static_cast<double>(found + wrong);
    wrong += of.below[i];
  }
  return sum / static_cast<double>(all_own);
}

/// The log odds of a probability.
double log_odds_of(double probability) {
  return std::log(probability) - std::log1p(-probability);
}

/// The probability between two scores, the second of which is the smaller one,
/// that seeds with the first reach, and those with the second do not if numbers
/// are fine enough.
double between(float above, float below) {
  const auto middle = std::isfinite(above) && std::isfinite(below)
                        ? (double{above} + below) / 2
                        : double{above};
  auto out = 1 / (1 + std::exp(-middle));
  while (!reaches(above, out))
    out = std::nextafter(out, 0.0);
  return out;
}

} // namespace

class_ranking ranking_of(std::span<const float> scores,
                         std::span<const std::int32_t> labels,
                         std::int32_t of) {
  std::vector<float> own;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]))
      return {};
    if (labels[i] == of)
      own.push_back(scores[i]);
  }
  const auto all_own = std::ssize(own);
  const auto others = std::ssize(scores) - all_own;
  if (all_own == 0)
    return {};
  auto steps = steps_of(std::move(own));
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (labels[i] != of)
      add_other(steps, scores[i]);
  class_ranking out;
  out.roc_auc = share_of(pairs_in_order(steps), 2 * all_own * others);
  out.average_precision = precision_on_average(steps, all_own);
  return out;
}

std::optional<double> threshold_counts::precision() const {
  return share_of(found, found + wrong);
}

std::optional<double> threshold_counts::recall() const {
  return share_of(found, seeds);
}

std::optional<double> threshold_counts::f1() const {
  return share_of(2 * found, seeds + found + wrong);
}

std::optional<double> threshold_counts::false_positive_rate() const {
  return share_of(wrong, others);
}

std::optional<ranked_scores>
ranked_scores::make(std::span<const float> scores,
                    std::span<const std::int32_t> labels, std::int32_t of) {
  ranked_scores out;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]))
      return std::nullopt;
    (labels[i] == of ? out.own_ : out.others_).push_back(scores[i]);
  }
  for (auto* side : {&out.own_, &out.others_})
    std::sort(side->begin(), side->end(), std::greater<>{});
  return out;
}

/// Calls `visit` with each distinct score from the largest down, and with what
/// is to be had with at least that score, while it returns true.
template <class Visit>
void ranked_scores::descend(const Visit& visit) const {
  auto own = own_.begin();
  auto other = others_.begin();
  threshold_counts so_far{std::ssize(own_), std::ssize(others_)};
  while (own != own_.end() || other != others_.end()) {
    const auto score = other == others_.end() ? *own
                       : own == own_.end()    ? *other
                                              : std::max(*own, *other);
    for (; own != own_.end() && *own == score; ++own)
      ++so_far.found;
    for (; other != others_.end() && *other == score; ++other)
      ++so_far.wrong;
    if (!visit(score, so_far))
      return;
  }
}

std::optional<double> ranked_scores::recall_at_fpr(double rate) const {
  if (own_.empty() || others_.empty())
    return std::nullopt;
  std::int64_t found = 0;
  descend([&](float, const threshold_counts& now) {
    if (*now.false_positive_rate() > rate)
      return false;
    found = now.found;
    return true;
  });
  return share_of(found, std::ssize(own_));
}

std::optional<double> ranked_scores::precision_at_k(double count) const {
  const auto most =
    std::min(count, static_cast<double>(own_.size() + others_.size()));
  if (most == 0)
    return std::nullopt;
  double found = 0;
  threshold_counts before;
  descend([&](float, const threshold_counts& now) {
    const auto taken = static_cast<double>(now.found + now.wrong);
    const auto taken_before = static_cast<double>(before.found + before.wrong);
    found = static_cast<double>(before.found)
            + static_cast<double>(now.found - before.found)
                * (std::min(most, taken) - taken_before)
                / (taken - taken_before);
    before = now;
    return taken < most;
  });
  return found / most;
}

std::optional<double>
ranked_scores::threshold_for(const metric_choice& by) const {
  if (own_.empty() || others_.empty())
    return std::nullopt;
  std::optional<float> last; // The last score, and whether it is the best yet.
  std::optional<float> best;
  std::optional<float> below;
  double most = -1;
  descend([&](float score, const threshold_counts& now) {
    if (best && best == last)
      below = score;
    last = score;
    const auto taken = static_cast<double>(now.found + now.wrong);
    if (by.which == evaluation_metric::recall_at_fpr
        && *now.false_positive_rate() > by.at)
      return false;
    const auto value = by.which == evaluation_metric::f1 ? *now.f1()
                       : by.which == evaluation_metric::recall_at_fpr
                         ? *now.recall()
                         : std::min(taken, by.at);
    if (value > most) {
      most = value;
      best = score;
      below.reset();
    }
    return by.which != evaluation_metric::precision_at_k || taken < by.at
           || !below; // The next score is wanted, too.
  });
  if (!best) // Not even the seeds with the largest score may be taken.
    return 1.0;
  return between(*best, below.value_or(*best));
}

threshold_counts ranked_scores::at(double probability) const {
  const auto reaching = [probability](const std::vector<float>& scores) {
    return std::partition_point(
             scores.begin(), scores.end(),
             [probability](float score) { return reaches(score, probability); })
           - scores.begin();
  };
  return {std::ssize(own_), std::ssize(others_), reaching(own_),
          reaching(others_)};
}

bool reaches(float score, double probability) {
  return score >= log_odds_of(probability);
}

} // namespace graphmill
