#pragma once

#include "pipelines/definition/metric_choice.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// A part divided by the whole; nothing if that is 0.
std::optional<double> share_of(std::int64_t part, std::int64_t whole);

/// How well scores tell the seeds of one class from all others.
///
/// With P seeds of the class and N others, the area under the receiver
/// operating characteristic is the share of the P * N pairs in which the seed
/// of the class has the larger score, a tie counting one half (Hanley and
/// McNeil, Radiology 143, 1982). Average precision is the sum, over the
/// distinct scores from the largest down, of the precision of all seeds with at
/// least that score times the recall that this score adds, without
/// interpolation. Seeds with equal scores come in together, so that neither
/// depends on the order of seeds. Both are what scikit-learn computes.
struct class_ranking {
  std::optional<double> roc_auc;           ///< Nothing if P or N is 0.
  std::optional<double> average_precision; ///< Nothing if P is 0.
};

/// @param scores Of each seed for the class; if one is no number, there is no
/// ranking. @param labels Of each seed. @param of The class.
class_ranking ranking_of(std::span<const float> scores,
                         std::span<const std::int32_t> labels, std::int32_t of);

/// Seeds on both sides of a threshold.
struct threshold_counts {
  std::int64_t seeds = 0;  ///< Of the class.
  std::int64_t others = 0; ///< All others.
  std::int64_t found = 0;  ///< Seeds of the class that are taken for it.
  std::int64_t wrong = 0;  ///< Others that are taken for it.

  std::optional<double> precision() const;
  std::optional<double> recall() const;
  std::optional<double> f1() const;
  std::optional<double> false_positive_rate() const;
};

/// Scores of an evaluation for one class, in order. Scores are log odds. Seeds
/// with equal scores are never told apart, so that nothing depends on the order
/// of seeds. Value type.
class ranked_scores {
public:
  /// Takes the same as `ranking_of`. Nothing if a score is no number.
  static std::optional<ranked_scores> make(std::span<const float> scores,
                                           std::span<const std::int32_t> labels,
                                           std::int32_t of);

  /// The largest recall among thresholds whose false-positive rate is `rate` at
  /// the most. Nothing without seeds of the class, or without others.
  std::optional<double> recall_at_fpr(double rate) const;

  /// The precision of the `count` seeds with the largest scores, or of all if
  /// there are fewer. Of seeds with equal scores at the edge, as many count as
  /// fit, each by the share of the class among them. Nothing without seeds.
  std::optional<double> precision_at_k(double count) const;

  /// The least probability with which a seed is to be taken for the class, so
  /// that `by` becomes best: f1, recall_at_fpr or precision_at_k. It lies in
  /// the middle between two scores; the largest one of equally good ones.
  /// Nothing without seeds of the class, or without others.
  std::optional<double> threshold_for(const metric_choice& by) const;

  /// What becomes of the seeds with that least probability.
  threshold_counts at(double probability) const;

private:
  ranked_scores() = default;

  template <class Visit>
  void descend(const Visit& visit) const;

  std::vector<float> own_;    ///< Descending.
  std::vector<float> others_; ///< Descending.
};

/// Whether a seed with that score, log odds, has at least that probability.
bool reaches(float score, double probability);

} // namespace graphmill
