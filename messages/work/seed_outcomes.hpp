#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// How many seeds of one class were taken for one class. Value type.
struct confusion_count {
  std::int32_t label = 0;
  std::int32_t predicted = 0;
  std::int32_t count = 0;

  friend bool operator==(const confusion_count&,
                         const confusion_count&) = default;
};

/// What an evaluation made of the labelled seeds of a batch, beside the sums
/// that every step has. Those of several batches add up to metrics that do not
/// depend on how seeds were dealt out to batches. Value type.
struct seed_outcomes {
  /// What is counted of pairs grows with the square of the classes: of more
  /// than these it is left out. Of labels of which a seed may have several, it
  /// is counted however many there are.
  static constexpr std::int32_t most_counted_classes = 512;

  /// Scores of one evaluation, over all classes, that are brought together.
  static constexpr std::uint64_t most_scores = std::uint64_t{1} << 26;
  /// Of one batch.
  static constexpr std::uint64_t most_batch_scores = std::uint64_t{1} << 22;

  /// What became of one label of one seed: `confusion_count::predicted` where
  /// seeds may have several labels.
  enum outcome : std::int32_t { absent, wrong, missed, right };

  std::int32_t classes = 0; ///< Of the model: classes, labels or values.
  /// Whether a seed may have several labels.
  bool multi_label = false;
  /// Whether labels are numbers. Nothing is counted then, and scores are what
  /// was predicted, wanted or not.
  bool regression = false;
  /// Of the pairs that occur: a class, and for which one it was taken. Where
  /// seeds may have several labels: a label, and an `outcome`, so that each
  /// seed is counted once for each label.
  std::vector<confusion_count> confusion;
  /// Of each labelled seed, in their order, if scores are wanted: its class, or
  /// [seeds, label_words()] bits of its labels, from the lowest bit on, or the
  /// bits of its values as float32.
  std::vector<std::int32_t> labels;
  std::vector<float> scores; ///< [seeds, classes], the larger the likelier.

  /// Values that the labels of a seed take.
  std::size_t label_words() const {
    const auto width = static_cast<std::size_t>(classes);
    return regression ? width : multi_label ? (width + 31) / 32 : 1;
  }
  /// Seeds with scores.
  std::size_t scored() const { return labels.size() / label_words(); }

  /// Fails if a label or a prediction is none, nothing is counted, or what is
  /// counted is of another kind than the labels are, or there
  /// are not as many scores as labels and classes say, or more than a batch may
  /// have. For what comes from elsewhere.
  result<void> check() const;

  friend bool operator==(const seed_outcomes&, const seed_outcomes&) = default;
};

} // namespace graphmill
