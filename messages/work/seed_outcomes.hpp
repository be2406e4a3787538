#pragma once

#include "messages/base/error.hpp"

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
  /// than these it is left out.
  static constexpr std::int32_t most_counted_classes = 512;

  /// Scores of one evaluation, over all classes, that are brought together.
  static constexpr std::uint64_t most_scores = std::uint64_t{1} << 26;
  /// Of one batch.
  static constexpr std::uint64_t most_batch_scores = std::uint64_t{1} << 22;

  std::int32_t classes = 0;               ///< Of the model.
  std::vector<confusion_count> confusion; ///< Of the pairs that occur.
  /// Of each labelled seed, in their order, if scores are wanted.
  std::vector<std::int32_t> labels;
  std::vector<float> scores; ///< [labels, classes], the larger the likelier.

  /// Fails if a label or a prediction is no class, nothing is counted, or there
  /// are not as many scores as labels and classes say, or more than a batch may
  /// have. For what comes from elsewhere.
  result<void> check() const;

  friend bool operator==(const seed_outcomes&, const seed_outcomes&) = default;
};

} // namespace graphmill
