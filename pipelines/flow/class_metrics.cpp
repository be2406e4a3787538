#include "pipelines/flow/class_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphmill {

namespace {

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

} // namespace

std::optional<double> class_result::precision() const {
  return share_of(correct, predicted);
}

std::optional<double> class_result::recall() const {
  return share_of(correct, seeds);
}

std::optional<double> class_result::f1() const {
  return share_of(2 * correct, seeds + predicted);
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
    form_ = told.form;
  }
  if (broken_ || told.classes != classes_ || told.form != form_) {
    broken_ = true;
    return;
  }
  const auto width = row_width();
  if (!told.confusion.empty() && confusion_.empty())
    confusion_.resize(static_cast<std::size_t>(classes_) * width);
  for (const auto& pair : told.confusion) {
    confusion_[static_cast<std::size_t>(pair.label) * width
               + static_cast<std::size_t>(pair.predicted)] += pair.count;
    if (form_ != outcome_form::labels || pair.label == 0)
      counted_ += pair.count;
  }
  links_.add(told);
  if (!grouped_ || links_.distinct() > seed_outcomes::most_batch_scores) {
    grouped_ = false; // Some of them would make wrong means.
    links_.groups = {};
  }
  broken_ = links_.distinct() > seed_outcomes::most_batch_scores;
  if (!told.scores.empty())
    add_scores(told);
}

/// How many things a seed of a class, or with a label, can be taken for.
std::size_t class_tally::row_width() const {
  return form_ == outcome_form::labels ? std::size_t{seed_outcomes::right} + 1
                                       : static_cast<std::size_t>(classes_);
}

/// What is too much to be kept is missing in the end, and so there are no
/// rankings. `problems_with` a definition says so before.
void class_tally::add_scores(const seed_outcomes& told) {
  const auto width = static_cast<std::size_t>(classes_);
  // Values are kept, too.
  const auto kept = (form_ == outcome_form::values ? 2 : 1) * width;
  if ((scored_ + told.scored()) * kept > seed_outcomes::most_scores)
    return;
  scored_ += told.scored();
  scores_.resize(width);
  labels_.insert(labels_.end(), told.labels.begin(), told.labels.end());
  values_.insert(values_.end(), told.values.begin(), told.values.end());
  for (std::size_t i = 0; i < told.scores.size(); ++i)
    scores_[i % width].push_back(told.scores[i]);
}

std::optional<class_metrics>
class_tally::metrics(std::int64_t seeds, const measures& wanted) const {
  if (broken_ || seeds == 0)
    return std::nullopt;
  if (form_ == outcome_form::ranks)
    return metrics_of_links(seeds);
  class_metrics out;
  out.seeds = seeds;
  if (form_ == outcome_form::values) {
    if (static_cast<std::int64_t>(scored_) != seeds)
      return std::nullopt;
    measure_into(out);
    return out;
  }
  if (counted_ == seeds)
    count_into(out);
  if (static_cast<std::int64_t>(scored_) == seeds)
    rank_into(out, wanted);
  out.of_one_class = of_one_class(out, wanted.metric);
  if (out.classes.empty() && !out.scored)
    return std::nullopt;
  return out;
}

/// A link without a wrong pair that could be scored has the score of its edge
/// alone.
std::optional<class_metrics>
class_tally::metrics_of_links(std::int64_t seeds) const {
  class_metrics out;
  out.seeds = seeds;
  const auto whole = [seeds](const rank_tally& of) {
    return of.rows() == 0 || of.rows() == seeds;
  };
  if (links_.destinations.rows() + links_.sources.rows() != 0
      && whole(links_.destinations) && whole(links_.sources))
    out.links = links_;
  out.scored = std::ranges::count(labels_, 1) == seeds;
  if (out.scored) {
    const auto found = ranking_of(scores_.front(), labels_, 1);
    out.roc_auc = found.roc_auc;
    out.average_precision = found.average_precision;
  }
  if (!out.links && !out.scored)
    return std::nullopt;
  return out;
}

void class_tally::measure_into(class_metrics& out) const {
  for (std::size_t c = 0; c < scores_.size(); ++c) {
    std::vector<std::pair<float, float>> pairs;
    for (std::size_t seed = 0; seed < scored_; ++seed)
      pairs.emplace_back(values_[seed * scores_.size() + c], scores_[c][seed]);
    out.values.push_back(result_of(std::move(pairs)));
  }
}

void class_tally::count_into(class_metrics& out) const {
  const auto width = static_cast<std::size_t>(classes_);
  if (form_ == outcome_form::labels) {
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

class_ranking class_tally::ranking(std::size_t of) const {
  return form_ == outcome_form::labels
           ? ranking_of(scores_[of], having(of), 1)
           : ranking_of(scores_[of], labels_, static_cast<std::int32_t>(of));
}

std::optional<ranked_scores> class_tally::ranked(std::int32_t of) const {
  const auto column = static_cast<std::size_t>(of);
  return form_ == outcome_form::labels
           ? ranked_scores::make(scores_[column], having(column), 1)
           : ranked_scores::make(scores_[column], labels_, of);
}

/// The rankings of more classes than are counted have a mean alone.
void class_tally::rank_into(class_metrics& out, const measures& wanted) const {
  std::vector<class_result> ranked_classes(scores_.size());
  for (std::size_t c = 0; c < scores_.size(); ++c)
    ranked_classes[c].ranking = ranking(c);
  out.scored = true;
  out.roc_auc = mean_over(ranked_classes, [](const class_result& one) {
    return one.ranking.roc_auc;
  });
  out.average_precision =
    mean_over(ranked_classes, [](const class_result& one) {
      return one.ranking.average_precision;
    });
  for (std::size_t c = 0; c < out.classes.size(); ++c)
    out.classes[c].ranking = ranked_classes[c].ranking;
  const auto& threshold = wanted.threshold;
  if (!threshold || threshold->of >= classes_)
    return;
  if (auto scores = ranked(threshold->of))
    out.ranked = std::make_shared<const ranked_scores>(*std::move(scores));
}

/// @param found Without it so far.
std::optional<double>
class_tally::of_one_class(const class_metrics& found,
                          const metric_choice& wanted) const {
  if (!wanted.of || *wanted.of >= classes_)
    return std::nullopt;
  const auto of = static_cast<std::size_t>(*wanted.of);
  const auto counted = of < found.classes.size();
  switch (wanted.which) {
  case evaluation_metric::f1:
    return counted ? found.classes[of].f1() : std::nullopt;
  case evaluation_metric::precision:
    return counted ? found.classes[of].precision() : std::nullopt;
  case evaluation_metric::recall:
    return counted ? found.classes[of].recall() : std::nullopt;
  default:
    break;
  }
  if (!found.scored)
    return std::nullopt;
  if (wanted.which == evaluation_metric::roc_auc)
    return ranking(of).roc_auc;
  if (wanted.which == evaluation_metric::average_precision)
    return ranking(of).average_precision;
  const auto scores = ranked(*wanted.of);
  if (!scores)
    return std::nullopt;
  return wanted.which == evaluation_metric::recall_at_fpr
           ? scores->recall_at_fpr(wanted.at)
           : scores->precision_at_k(wanted.at);
}

namespace {

std::optional<double> value_of_links(const metric_choice& which,
                                     const class_metrics& found) {
  if (!found.links)
    return std::nullopt;
  switch (which.which) {
  case evaluation_metric::mrr:
    return found.links->mrr();
  case evaluation_metric::hits:
    return found.links->hits(which.at);
  case evaluation_metric::mean_rank:
    return found.links->mean_rank();
  default:
    break;
  }
  const auto& groups = found.links->groups;
  if (groups.distinct() == 0)
    return std::nullopt;
  switch (which.which) {
  case evaluation_metric::recall_at:
    return groups.recall(which.at);
  case evaluation_metric::precision_at:
    return groups.precision(which.at);
  case evaluation_metric::ndcg:
    return groups.ndcg(which.at);
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<double> value_of(const metric_choice& which,
                               const batch_metrics& sums,
                               const class_metrics* classes) {
  // An infinite one could not be kept in a checkpoint, nor in metrics.jsonl.
  const auto finite = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? value : std::nullopt;
  };
  if (which.which == evaluation_metric::accuracy)
    return sums.accuracy();
  if (which.which == evaluation_metric::loss)
    return finite(sums.loss());
  if (classes == nullptr)
    return std::nullopt;
  if (which.of)
    return classes->of_one_class;
  switch (which.which) {
  case evaluation_metric::f1_micro:
    return classes->f1_micro();
  case evaluation_metric::f1_macro:
    return classes->f1_macro();
  case evaluation_metric::roc_auc:
    return classes->roc_auc;
  case evaluation_metric::average_precision:
    return classes->average_precision;
  case evaluation_metric::mse:
    return finite(classes->mse());
  case evaluation_metric::mae:
    return finite(classes->mae());
  default:
    return value_of_links(which, *classes);
  }
}

} // namespace graphmill
