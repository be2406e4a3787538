#include "pipelines/flow/class_metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  if (whole == 0)
    return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// The mean, in the order of classes, of the values that there are.
template <class Result, class Value>
std::optional<double> mean_over(const std::vector<Result>& classes,
                                const Value& value) {
  double sum = 0;
  std::int64_t count = 0;
  for (const auto& one : classes)
    if (const std::optional<double> found = value(one)) {
      sum += *found;
      ++count;
    }
  if (count == 0)
    return std::nullopt;
  return sum / static_cast<double>(count);
}

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
  out.roc_auc = share(pairs_in_order(steps), 2 * all_own * others);
  out.average_precision = precision_on_average(steps, all_own);
  return out;
}

std::optional<double> class_result::precision() const {
  return share(correct, predicted);
}

std::optional<double> class_result::recall() const {
  return share(correct, seeds);
}

std::optional<double> class_result::f1() const {
  return share(2 * correct, seeds + predicted);
}

std::optional<double> class_metrics::f1_micro() const {
  if (classes.empty())
    return std::nullopt;
  class_result all;
  for (const auto& one : classes) {
    all.seeds += one.seeds;
    all.predicted += one.predicted;
    all.correct += one.correct;
  }
  return all.f1();
}

std::optional<double> class_metrics::f1_macro() const {
  return mean_over(classes, [](const class_result& one) { return one.f1(); });
}

std::optional<double> class_metrics::mse() const {
  return mean_over(values, [](const value_result& one) { return one.mse; });
}

std::optional<double> class_metrics::rmse() const {
  const auto squares = mse();
  return squares ? std::optional{std::sqrt(*squares)} : std::nullopt;
}

std::optional<double> class_metrics::mae() const {
  return mean_over(values, [](const value_result& one) { return one.mae; });
}

std::optional<double> class_metrics::r2() const {
  return mean_over(values, [](const value_result& one) { return one.r2; });
}

void class_tally::add(const seed_outcomes& told) {
  if (classes_ == 0) {
    classes_ = told.classes;
    multi_label_ = told.multi_label;
    regression_ = told.regression;
  }
  if (broken_ || told.classes != classes_ || told.multi_label != multi_label_
      || told.regression != regression_) {
    broken_ = true;
    return;
  }
  const auto width = row_width();
  if (!told.confusion.empty() && confusion_.empty())
    confusion_.resize(static_cast<std::size_t>(classes_) * width);
  for (const auto& pair : told.confusion) {
    confusion_[static_cast<std::size_t>(pair.label) * width
               + static_cast<std::size_t>(pair.predicted)] += pair.count;
    if (!multi_label_ || pair.label == 0)
      counted_ += pair.count;
  }
  if (!told.labels.empty())
    add_scores(told);
}

/// How many things a seed of a class, or with a label, can be taken for.
std::size_t class_tally::row_width() const {
  return multi_label_ ? std::size_t{seed_outcomes::right} + 1
                      : static_cast<std::size_t>(classes_);
}

/// What is too much to be kept is missing in the end, and so there are no
/// rankings. `problems_with` a definition says so before.
void class_tally::add_scores(const seed_outcomes& told) {
  const auto width = static_cast<std::size_t>(classes_);
  const auto kept = (regression_ ? 2 : 1) * width; // Values are kept, too.
  if ((scored_ + told.scored()) * kept > seed_outcomes::most_scores)
    return;
  scored_ += told.scored();
  scores_.resize(width);
  labels_.insert(labels_.end(), told.labels.begin(), told.labels.end());
  for (std::size_t i = 0; i < told.scores.size(); ++i)
    scores_[i % width].push_back(told.scores[i]);
}

std::optional<class_metrics> class_tally::metrics(std::int64_t seeds) const {
  if (broken_ || seeds == 0)
    return std::nullopt;
  class_metrics out;
  out.seeds = seeds;
  if (regression_) {
    if (static_cast<std::int64_t>(scored_) != seeds)
      return std::nullopt;
    measure_into(out);
    return out;
  }
  if (counted_ == seeds)
    count_into(out);
  if (static_cast<std::int64_t>(scored_) == seeds)
    rank_into(out);
  if (out.classes.empty() && !out.scored)
    return std::nullopt;
  return out;
}

void class_tally::measure_into(class_metrics& out) const {
  for (std::size_t c = 0; c < scores_.size(); ++c) {
    std::vector<std::pair<float, float>> pairs;
    for (std::size_t seed = 0; seed < scored_; ++seed)
      pairs.emplace_back(
        std::bit_cast<float>(labels_[seed * scores_.size() + c]),
        scores_[c][seed]);
    out.values.push_back(result_of(std::move(pairs)));
  }
}

void class_tally::count_into(class_metrics& out) const {
  const auto width = static_cast<std::size_t>(classes_);
  if (multi_label_) {
    for (std::size_t label = 0; label < width; ++label) {
      const auto* of = confusion_.data() + label * row_width();
      const auto correct = of[seed_outcomes::right];
      out.classes.push_back({.seeds = of[seed_outcomes::missed] + correct,
                             .predicted = of[seed_outcomes::wrong] + correct,
                             .correct = correct});
    }
    return;
  }
  out.confusion = confusion_;
  out.classes.resize(width);
  for (std::size_t label = 0; label < width; ++label)
    for (std::size_t predicted = 0; predicted < width; ++predicted) {
      const auto count = confusion_[label * width + predicted];
      out.classes[label].seeds += count;
      out.classes[predicted].predicted += count;
      if (label == predicted)
        out.classes[label].correct = count;
    }
}

/// Of each seed with scores, 1 if it has a label, else 0.
std::vector<std::int32_t> class_tally::having(std::size_t label) const {
  const auto words = (static_cast<std::size_t>(classes_) + 31) / 32;
  std::vector<std::int32_t> out;
  out.reserve(scored_);
  for (auto at = label / 32; at < labels_.size(); at += words)
    out.push_back(static_cast<std::int32_t>(
      static_cast<std::uint32_t>(labels_[at]) >> (label % 32) & 1));
  return out;
}

/// The rankings of more classes than are counted have a mean alone.
void class_tally::rank_into(class_metrics& out) const {
  std::vector<class_result> ranked(scores_.size());
  for (std::size_t c = 0; c < scores_.size(); ++c)
    ranked[c].ranking = multi_label_ ? ranking_of(scores_[c], having(c), 1)
                                     : ranking_of(scores_[c], labels_,
                                                  static_cast<std::int32_t>(c));
  out.scored = true;
  out.roc_auc = mean_over(
    ranked, [](const class_result& one) { return one.ranking.roc_auc; });
  out.average_precision = mean_over(ranked, [](const class_result& one) {
    return one.ranking.average_precision;
  });
  for (std::size_t c = 0; c < out.classes.size(); ++c)
    out.classes[c].ranking = ranked[c].ranking;
}

double quality_of(evaluation_metric which, const batch_metrics& sums,
                  const class_metrics* classes) {
  const auto number = [](const std::optional<double>& value) {
    return value.value_or(std::numeric_limits<double>::quiet_NaN());
  };
  switch (which) {
  case evaluation_metric::accuracy:
    return sums.accuracy();
  case evaluation_metric::loss:
    // An infinite one could not be kept in a checkpoint, nor in metrics.jsonl.
    return std::isfinite(sums.loss()) ? -sums.loss() : number({});
  case evaluation_metric::f1_micro:
    return number(classes != nullptr ? classes->f1_micro() : std::nullopt);
  case evaluation_metric::f1_macro:
    return number(classes != nullptr ? classes->f1_macro() : std::nullopt);
  case evaluation_metric::roc_auc:
    return number(classes != nullptr ? classes->roc_auc : std::nullopt);
  case evaluation_metric::mse:
    return -number(classes != nullptr ? classes->mse() : std::nullopt);
  case evaluation_metric::mae:
    return -number(classes != nullptr ? classes->mae() : std::nullopt);
  case evaluation_metric::average_precision:
    return number(classes != nullptr ? classes->average_precision
                                     : std::nullopt);
  }
  return number({});
}

const char* to_string(evaluation_metric which) {
  switch (which) {
  case evaluation_metric::accuracy:
    return "accuracy";
  case evaluation_metric::loss:
    return "loss";
  case evaluation_metric::f1_macro:
    return "f1_macro";
  case evaluation_metric::roc_auc:
    return "roc_auc";
  case evaluation_metric::average_precision:
    return "average_precision";
  case evaluation_metric::f1_micro:
    return "f1_micro";
  case evaluation_metric::mse:
    return "mse";
  case evaluation_metric::mae:
    return "mae";
  }
  return "";
}

} // namespace graphmill
