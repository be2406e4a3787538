#pragma once

#include "actors/run/run_observer.hpp"
#include "messages/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string_view>

namespace graphmill {

/// Adds what an evaluation says over all classes to a JSON object: `f1_micro`
/// and `f1_macro`, and, if there were scores, `roc_auc` and
/// `average_precision`; where labels are numbers, `mse`, `rmse`, `mae` and `r2`
/// instead. Of links `mrr`, `hits@1`, `hits@3`, `hits@10`, `mean_rank`, with
/// ranks among all nodes `recall@20` and `ndcg@20`, and `tied`, the share of
/// ranks that a tie has moved, in place of F1. A mean of nothing is null.
void add_class_metrics(nlohmann::json& to, const class_metrics& of);

/// All that an evaluation has given, as summaries tell it: seeds, loss,
/// accuracy (of classes), `add_class_metrics`, and the metric that was asked
/// for. For up to 64 values of a node
/// that has several also `values`, a list of the same. For up to 64 classes or
/// labels also
/// `classes`, a list with what is known of each, and, where a node has one
/// class, `confusion`, a row for each label with a count for each prediction.
/// Of links that are ranked at both ends, `destination` and `source` have the
/// metrics of each. Of links of several edge types, up to 64, `edge_types` is a
/// list of what each has alone, by its place in the task.
nlohmann::json evaluation_json(const phase_result& done);

/// Adds what a threshold makes of the seeds of an evaluation: `threshold`, the
/// probability, `threshold_of` as the definition has it, and with the same
/// beginning `predicted`, `correct`, `precision`, `recall`, `f1` and
/// `false_positive_rate` of the class. Nothing if scores are missing.
/// @param tuned Before. Nothing: it is tuned on this evaluation, unless the
/// definition gives it.
void add_threshold(nlohmann::json& to, const phase_result& done,
                   std::optional<double> tuned = {});

/// Why there is nothing to tell: a split has no labelled seeds.
error nothing_measured(std::string_view split);

/// Adds the metric that was asked for, by its name.
void add_metric(nlohmann::json& to, const phase_result& done);

/// The same metrics of a line of metrics.jsonl, which has none of each class.
nlohmann::json evaluation_in(const nlohmann::json& line);

} // namespace graphmill
