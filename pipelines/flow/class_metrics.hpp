#pragma once

#include "messages/work/seed_outcomes.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/link_metrics.hpp"
#include "pipelines/flow/score_ranking.hpp"
#include "pipelines/flow/value_metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// What an evaluation says of one class, or of one label of several that a seed
/// may have.
struct class_result {
  std::int64_t seeds = 0;     ///< Whose class it is, or that have the label.
  std::int64_t predicted = 0; ///< Seeds that were taken for it.
  std::int64_t correct = 0;   ///< Those that are both.
  class_ranking ranking = {};

  std::optional<double> precision() const; ///< Nothing if none were predicted.
  std::optional<double> recall() const;    ///< Nothing if there are no seeds.
  /// 2 * correct / (seeds + predicted); nothing if that is 0 / 0.
  std::optional<double> f1() const;
};

/// Metrics of an evaluation that look at each class. Means over classes take
/// those that have a value: F1 the classes that a seed has or was taken for.
struct class_metrics {
  std::int64_t seeds = 0;
  /// By class; empty if there are too many to be counted, as the next one.
  std::vector<class_result> classes;
  /// [classes, classes], by label first; empty if seeds may have several.
  std::vector<std::int64_t> confusion;
  bool scored = false;           ///< The scores of all seeds were there.
  std::optional<double> roc_auc; ///< Mean over classes.
  std::optional<double> average_precision; ///< Mean over classes.
  /// By value, where labels are numbers: the rest is empty then.
  std::vector<value_result> values{};
  /// Of links, if they were ranked: `classes` and `confusion` are empty then,
  /// and both areas are of edges among pairs of nodes that are none.
  std::optional<link_result> links{};
  /// The metric that was asked for, if it is of one class.
  std::optional<double> of_one_class{};
  /// Of the class of the threshold that was asked for; null: none, or a score
  /// is no number.
  std::shared_ptr<const ranked_scores> ranked{};

  /// Of all seeds and classes together: where each seed has one class, the
  /// same as the accuracy.
  std::optional<double> f1_micro() const;
  std::optional<double> f1_macro() const;

  // Of labels that are numbers, means over the values of a seed; nothing of
  // others.
  std::optional<double> mse() const;
  std::optional<double> rmse() const; ///< The root of `mse`.
  std::optional<double> mae() const;
  std::optional<double> r2() const; ///< Over the values that have one.
};

/// Brings together what batches of an evaluation say of their seeds. What comes
/// out does not depend on their order, nor on how seeds were dealt out: counts
/// are whole numbers, and scores are sorted. Keeps `seed_outcomes::most_scores`
/// at the most, and as many different ranks as `most_batch_scores`: of more,
/// metrics of groups of links are missing, and if that is not enough, all are.
/// One thread at a time.
class class_tally {
public:
  /// @param told Has passed its `check`. If it does not fit what came before,
  /// there will be no metrics.
  void add(const seed_outcomes& told);

  /// @param seeds Labelled ones of the evaluation. Nothing unless all of them
  /// were told of, and there are any. @param wanted Of classes that there are.
  std::optional<class_metrics> metrics(std::int64_t seeds,
                                       const measures& wanted = {}) const;

private:
  void add_scores(const seed_outcomes& told);
  void count_into(class_metrics& out) const;
  void rank_into(class_metrics& out, const measures& wanted) const;
  std::optional<double> of_one_class(const class_metrics& found,
                                     const metric_choice& wanted) const;
  std::optional<ranked_scores> ranked(std::int32_t of) const;
  void measure_into(class_metrics& out) const;
  std::optional<class_metrics> metrics_of_links(std::int64_t seeds) const;
  std::size_t row_width() const;
  std::vector<std::int32_t> having(std::size_t label) const;
  class_ranking ranking(std::size_t of) const;

  std::int32_t classes_ = 0; ///< 0: nothing was told yet.
  outcome_form form_ = outcome_form::classes;
  bool broken_ = false;
  bool grouped_ = true;                    ///< Groups of links are kept.
  std::int64_t counted_ = 0;               ///< Seeds in `confusion_`.
  std::vector<std::int64_t> confusion_;    ///< [classes, row_width()]
  std::vector<std::int32_t> labels_;       ///< As in `seed_outcomes`.
  std::vector<float> values_;              ///< As in `seed_outcomes`.
  link_result links_;                      ///< Of links.
  std::size_t scored_ = 0;                 ///< Seeds with scores.
  std::vector<std::vector<float>> scores_; ///< By class, of the same seeds.
};

/// What a metric came to; nothing if there is no such value, or an infinite
/// one.
/// @param classes Null if there are none.
std::optional<double> value_of(const metric_choice& which,
                               const batch_metrics& sums,
                               const class_metrics* classes);

} // namespace graphmill
