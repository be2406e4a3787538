#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// How many seeds of one class were predicted to have one class. Value type.
struct confusion_count {
  std::int32_t label = 0;
  std::int32_t predicted = 0;
  std::int32_t count = 0;

  friend bool operator==(const confusion_count&,
                         const confusion_count&) = default;
};

/// The outcomes of an evaluation for the labelled seeds of a batch, besides the
/// sums of every step. Those of several batches add up to metrics that do not
/// depend on how batches divide the seeds. Value type.
struct seed_outcomes {
  /// Counts of pairs grow with the square of the classes: with more classes
  /// they are left out. With several labels of a seed, any number is counted.
  static constexpr std::int32_t most_counted_classes = 512;

  /// The largest number of scores of one evaluation, over all classes.
  static constexpr std::uint64_t most_scores = std::uint64_t{1} << 26;
  /// Of one batch.
  static constexpr std::uint64_t most_batch_scores = std::uint64_t{1} << 22;

  /// The outcome of one label of one seed: `confusion_count::predicted` if
  /// seeds may have several labels.
  enum outcome : std::int32_t { absent, wrong, missed, right };

  std::int32_t classes = 0; ///< Of the model: classes, labels or values.
  /// Whether a seed may have several labels.
  bool multi_label = false;
  /// Whether labels are numbers. Then nothing is counted, and scores are the
  /// predictions, in any case.
  bool regression = false;
  /// The pairs that occur: a class, and its prediction. With several labels: a
  /// label, and an `outcome`, so each seed is counted once for each label.
  std::vector<confusion_count> confusion;
  /// For each labelled seed, in order, if scores are wanted: its class, or
  /// [seeds, label_words()] bits of its labels, from the lowest bit on, or the
  /// bits of its values as float32.
  std::vector<std::int32_t> labels;
  std::vector<float> scores; ///< [seeds, classes]; a larger score is likelier.

  /// Values that the labels of a seed take.
  std::size_t label_words() const {
    const auto width = static_cast<std::size_t>(classes);
    return regression ? width : multi_label ? (width + 31) / 32 : 1;
  }
  /// Seeds with scores.
  std::size_t scored() const { return labels.size() / label_words(); }

  /// Fails if a label or prediction is invalid, a count is 0, counts are of
  /// another kind than the labels, there are not as many scores as labels and
  /// classes require, or more than a batch may have. For foreign input.
  result<void> check() const;

  friend bool operator==(const seed_outcomes&, const seed_outcomes&) = default;
};

} // namespace graphmill
