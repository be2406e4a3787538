#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace graphmill {

/// A metric as `evaluate.metric` names it, for the classes of a dataset. Value
/// type.
struct metric_choice {
  evaluation_metric which = evaluation_metric::accuracy;
  std::optional<std::int32_t> of = {}; ///< A class; nothing: over all classes.
  /// Of `recall_at_fpr` the rate; of others with a number behind `@` the K.
  double at = 0;
  std::string name; ///< As users write it, and as results call it.
  /// What it is a metric of. Some are of classes and of links.
  outcome_form form = outcome_form::classes;

  metric_choice() : name("accuracy") {}
  /// A metric over all classes.
  metric_choice(evaluation_metric over_all);

  /// Whether an accuracy is told, too.
  bool has_accuracy() const {
    return form == outcome_form::classes || form == outcome_form::labels;
  }

  /// Whether the smaller is the better.
  bool is_loss() const {
    return which == evaluation_metric::loss
           || which == evaluation_metric::mean_rank || is_of_values(which);
  }

  friend bool operator==(const metric_choice&, const metric_choice&) = default;
};

/// Where a class is decided for that is not the likeliest one. Value type.
struct threshold_choice {
  std::int32_t of = 0;    ///< The class.
  std::string class_name; ///< Its name, or its number.
  std::string name;       ///< As users write it.
  /// The least probability with which seeds are taken for the class. Nothing:
  /// it is tuned so that `by` is largest.
  std::optional<double> fixed = {};
  metric_choice by = {};
};

/// What evaluations are to tell besides what they always do.
struct measures {
  metric_choice metric = {}; ///< By which the best epoch is chosen.
  std::optional<threshold_choice> threshold = {};
};

/// As users write it: "f1_macro".
const char* to_string(evaluation_metric which);

/// A metric by its name in results, "f1:fraud", whose class is not looked up:
/// 0 stands for it. Nothing if there is no such metric. `form` says links or
/// numbers where the metric is of these alone, else classes.
std::optional<metric_choice> metric_called(const std::string& name);

/// The metric of both, as far as it has a meaning: recall@20 is not recall.
evaluation_metric metric_meant(const definition::evaluate_section& evaluate);

/// What `evaluate.metric` and its detail name. Links have no accuracy, which is
/// the default: it stands for mrr then. Fails if they name no metric that there
/// is, or a class that there is not.
result<metric_choice> metric_of(const definition::evaluate_section& evaluate,
                                const node_type_info& target);

/// What `evaluate.threshold` says; nothing if it is empty. Fails likewise, and
/// if a threshold cannot be tuned by the metric.
result<std::optional<threshold_choice>>
threshold_of(const definition::evaluate_section& evaluate,
             const node_type_info& target);

/// Both. The definition fits the dataset (`check_against`).
measures measures_of(const definition& def, const dataset_info& info);

/// What is wrong with both whatever the dataset is.
result<void> check_metric(const definition::evaluate_section& evaluate);
result<void> check_threshold(const definition::evaluate_section& evaluate);

} // namespace graphmill
