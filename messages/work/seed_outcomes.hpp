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

/// How many rows of an edge type have a rank. Value type.
struct rank_count {
  /// Twice the rank, 1 + greater + equal / 2, over the scores of negatives: a
  /// whole number.
  std::int64_t doubled = 2;
  std::int32_t count = 0;
  std::int32_t relation = 0; ///< Place in the task's edge types.

  friend bool operator==(const rank_count&, const rank_count&) = default;
};

/// How many links of groups of one size have a rank in their group: among all
/// nodes that are no known link of another split. A tie counts against the
/// link, so that no more than K links of a group have a rank up to K. Value
/// type.
struct group_count {
  std::int32_t size = 1; ///< Links of the group.
  std::int32_t count = 0;
  std::int64_t doubled = 2; ///< Twice the rank, 1 + greater + equal.

  friend bool operator==(const group_count&, const group_count&) = default;
};

/// What a task says of a row of its table, and so what is counted of it.
enum class outcome_form : std::uint8_t {
  classes, ///< One class.
  labels,  ///< Any of several labels.
  values,  ///< Numbers. Nothing is counted, and scores are the predictions.
  ranks    ///< The ranks of an edge among negatives.
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
  /// Of one batch. Also the largest number of ranks in it.
  static constexpr std::uint64_t most_batch_scores = std::uint64_t{1} << 22;
  /// The largest `rank_count::doubled`.
  static constexpr std::int64_t most_doubled_rank = std::int64_t{1} << 42;
  /// Edge types of a task.
  static constexpr std::int32_t most_relations = 1 << 16;
  /// Links of a group.
  static constexpr std::int32_t most_grouped = 1 << 26;

  /// The outcome of one label of one seed: `confusion_count::predicted` of
  /// `outcome_form::labels`.
  enum outcome : std::int32_t { absent, wrong, missed, right };

  std::int32_t classes = 0; ///< Of the model: classes, labels or values.
  outcome_form form = outcome_form::classes;
  /// The pairs that occur: a class, and its prediction. With several labels: a
  /// label, and an `outcome`, so each seed is counted once for each label.
  std::vector<confusion_count> confusion;
  /// For each labelled seed, in order, if scores are wanted: its class, or
  /// [seeds, label_words()] bits of its labels, from the lowest bit on. Of
  /// links: 1 for an edge, and 0 for its first negative.
  std::vector<std::int32_t> labels;
  std::vector<float> values; ///< [seeds, classes] Of labels that are numbers.
  std::vector<float> scores; ///< [seeds, classes]; a larger score is likelier.
  /// Of links, which have one class: ranks among negatives that replace the
  /// destination, and among those that replace the source; each ascending by
  /// edge type and rank, no rank of a type twice.
  std::vector<rank_count> destination_ranks{};
  std::vector<rank_count> source_ranks{};
  std::int64_t tied = 0; ///< Of these ranks, those that a tie has moved.
  /// Of links whose destinations were ranked among all nodes: ascending by size
  /// and rank. Links that repeat another one are left out.
  std::vector<group_count> groups{};

  /// Elements of `labels` for a seed.
  std::size_t label_words() const {
    return form == outcome_form::values ? 0
           : form == outcome_form::labels
             ? (static_cast<std::size_t>(classes) + 31) / 32
             : 1;
  }
  /// Seeds with scores.
  std::size_t scored() const {
    return classes < 1 ? 0 : scores.size() / static_cast<std::size_t>(classes);
  }

  /// Ranks of one end, by their counts.
  static std::int64_t rows_of(const std::vector<rank_count>& ranks);

  /// Fails if a label or prediction is invalid, a count is 0, there is what
  /// the form does not have, there are not as many labels as scores and classes
  /// require, or more than a batch may have. For foreign input.
  result<void> check() const;

  friend bool operator==(const seed_outcomes&, const seed_outcomes&) = default;
};

} // namespace graphmill
