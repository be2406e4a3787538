#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/class_metrics.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

struct phase_request;
struct step_result;

/// The end of a phase.
struct phase_result {
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  batch_metrics metrics;
  std::int64_t steps = 0;
  double learning_rate = 0;
  double seconds = 0;
  metric_choice metric = {}; ///< Chooses the best epoch.
  /// Of an evaluation, if all of its seeds were reported.
  std::optional<class_metrics> classes = {};
  std::optional<threshold_choice> threshold = {}; ///< Of the run.
  /// The values of `metric` and of `beside`, if they are known without classes.
  std::optional<double> told = {};
  std::optional<double> told_beside = {};

  /// What people see of links besides `metric`: hits@10 or, if it is that, mrr.
  metric_choice beside() const {
    metric_choice hits{evaluation_metric::hits};
    hits.at = 10;
    hits.name = "hits@10";
    return metric.name == hits.name ? metric_choice{evaluation_metric::mrr}
                                    : hits;
  }
  std::optional<double> value_beside() const {
    return told_beside
             ? told_beside
             : value_of(beside(), metrics, classes ? &*classes : nullptr);
  }

  /// The value of `metric`; nothing if it has none.
  std::optional<double> value() const {
    return told ? told
                : value_of(metric, metrics, classes ? &*classes : nullptr);
  }
  /// The same, with larger values better; not a number for nothing.
  double quality() const {
    const auto found = value();
    if (!found)
      return std::numeric_limits<double>::quiet_NaN();
    return metric.is_loss() ? -*found : *found;
  }
};

/// The end of a run. Without `failure` it is a success.
struct run_outcome {
  std::optional<error> failure; ///< `ec::cancelled` when the user stopped it.
  std::string digest;           ///< Of the weights; empty if there are none.
  std::shared_ptr<const std::vector<named_tensor>> parameters;
  /// The quality of the best epoch (`phase_result`).
  std::optional<double> best_validation;
  std::int64_t train_steps = 0;
  /// Of a paused attempt: the start of the next one.
  std::optional<training_state> paused = {};
};

/// Called from the CONDUCTOR's thread; must be quick and must not throw.
struct run_observer {
  /// Members with filled caches of remote rows, before the first phase of a run
  /// with caches.
  std::function<void(std::size_t done, std::size_t of)> on_filled;
  /// A phase with steps starts, or continues.
  std::function<void(const phase_request&)> on_begin;
  /// A rank's part of a step.
  /// @param done Steps that all ranks have done, the average of theirs rounded
  /// down.
  std::function<void(const phase_request&, std::int64_t done,
                     const batch_metrics& part)>
    on_step;
  /// Errors end the run.
  std::function<result<void>(const phase_result&)> on_phase;
  std::function<void(const step_result&)> on_output;
  /// A rank's part of a step; called with `train.record_steps`. Errors end the
  /// run.
  std::function<result<void>(const step_result&)> on_record;
  /// Whether a checkpoint can be taken now. Without this function there are
  /// none.
  /// @param last Of the run.
  std::function<bool(bool last)> on_checkpoint_due;
  std::function<void(training_state)> on_checkpoint;
  std::function<void(const error&)> on_checkpoint_missed;
  std::function<void(run_outcome)> on_end; ///< Once.
};

} // namespace graphmill
