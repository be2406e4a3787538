#pragma once

#include "messages/definition/definition_words.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/dataset.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphmill {

/// What a prediction says of a row of the task's table, as files have it.
struct prediction_form {
  dtype element = dtype::int64;
  std::string_view column; ///< Of a CSV, before a number; empty: the class.

  /// Whether there is one element for each row, and no second dimension.
  constexpr bool is_list(std::int64_t columns) const {
    return column.empty() || (element == dtype::float32 && columns == 1);
  }
};

/// Everything that distinguishes one kind of task from the others, in one
/// record. Code that depends on the kind asks its traits, and names no kind.
/// The labels of the target decide the kind.
struct task_traits {
  /// What a batch brings of each seed: `traits_of(labels)` has the type and the
  /// number of elements.
  label_kind labels = label_kind::classes;
  /// What a step reports. It decides the loss, too: `seed_losses.hpp`.
  outcome_form outcomes = outcome_form::classes;
  prediction_form prediction;
  /// One of all classes is predicted. So label smoothing and weights of classes
  /// shape the loss, and their counts grow with the square of the classes.
  bool one_class = false;
  /// Outputs are probabilities before they are normalised. So there are scores,
  /// thresholds and a focal loss. Of numbers `train.loss` chooses the loss, and
  /// of links `train.link_loss`.
  bool decides = true;

  /// Links have no accuracy; `metric_of` says what is in its place.
  constexpr bool has(evaluation_metric which) const {
    switch (outcomes) {
    case outcome_form::values:
      return is_of_values(which);
    case outcome_form::ranks:
      return is_of_ranks(which) || which == evaluation_metric::loss
             || which == evaluation_metric::roc_auc
             || which == evaluation_metric::average_precision;
    default:
      return !is_of_values(which) && !is_of_ranks(which);
    }
  }
  /// Whether results of so many classes are counted by class.
  constexpr bool counts(std::int64_t classes) const {
    return !one_class || classes <= seed_outcomes::most_counted_classes;
  }
  /// Numbers that an evaluation keeps of a seed for metrics of all seeds
  /// together: its scores, and its labels where these are numbers. Of a link
  /// the scores of its edge and of a negative.
  constexpr std::uint64_t scores_of_seed(std::int64_t classes) const {
    return (decides ? 1 : 2) * static_cast<std::uint64_t>(classes);
  }
  /// What is predicted, for sentences.
  constexpr std::string_view outputs() const { return traits_of(labels).units; }
  /// In place of one class, for sentences.
  constexpr std::string_view instead() const {
    return traits_of(labels).instead;
  }
};

/// The traits of all kinds, by the kind of the labels.
inline constexpr std::array all_tasks{
  task_traits{.one_class = true},
  task_traits{.labels = label_kind::multi_label,
              .outcomes = outcome_form::labels,
              .prediction = {dtype::uint8, "label_"}},
  task_traits{.labels = label_kind::regression,
              .outcomes = outcome_form::values,
              .prediction = {dtype::float32, "value_"},
              .decides = false},
  task_traits{.labels = label_kind::links,
              .outcomes = outcome_form::ranks,
              .prediction = {dtype::float32, "score"},
              .decides = false},
};

constexpr const task_traits& task_of(label_kind labels) {
  return all_tasks[static_cast<std::size_t>(labels)];
}
static_assert(std::all_of(all_tasks.begin(), all_tasks.end(),
                          [](const task_traits& of) {
                            return &task_of(of.labels) == &of;
                          }));

/// The first task with outcomes of a form. Of each form all have the same
/// metrics.
constexpr const task_traits& task_of(outcome_form outcomes) {
  return *std::find_if(
    all_tasks.begin(), all_tasks.end(),
    [outcomes](const task_traits& of) { return of.outcomes == outcomes; });
}

/// The task of a target, as `choose_target` shows it.
inline const task_traits& task_of(const node_type_info& target) {
  return task_of(target.labels);
}

} // namespace graphmill
