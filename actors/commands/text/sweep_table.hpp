#pragma once

#include "actors/commands/text/sweep_axes.hpp"
#include "messages/wire/cluster.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// One run of a sweep.
struct sweep_run {
  std::string id;
  std::uint64_t seed = 0;
  std::optional<run_state> state;   ///< Once it is over and was waited for.
  std::optional<double> validation; ///< By `metric`, of its summary.
  std::optional<double> test;
  /// By which its best epoch was chosen. Where it says nothing else, mse of
  /// labels that are numbers, and mrr of links.
  std::string metric = "accuracy";
  std::optional<double> validation_accuracy = {}; ///< Beside another metric.
  std::optional<double> test_accuracy = {};
  std::uint32_t epochs = 0; ///< That it was trained for.

  /// Whether less is better.
  bool errors() const {
    return metric == "mse" || metric == "mae" || metric == "loss"
           || metric == "mean_rank";
  }
};

/// Of the summary of a run that is over.
sweep_run read_sweep_run(const run_record& run, std::uint64_t seed);

/// The runs of one combination, which differ in their seeds.
struct sweep_row {
  sweep_settings settings;
  std::vector<sweep_run> runs;
  /// That its runs had; 0: as many as those of all other rows.
  std::uint32_t epochs = 0;
};

/// The mean of `evaluate.metric` over validation, the larger the better; none
/// if no run of the row has one.
std::optional<double> validation_of(const sweep_row& row);

/// Most epochs first, and of these the best: by the mean of `evaluate.metric`
/// over validation or, where a sweep has none, the test; those without any
/// last. Equal ones stay in their order. The smallest errors come first, behind
/// all metrics of which more is better.
void sort_sweep(std::vector<sweep_row>& rows);

/// A row per combination: means, standard deviations over its runs (of samples,
/// n - 1; for one run there is none), how many have finished. Below, the runs
/// of the best, unless others are as good.
std::string sweep_text(std::span<const sweep_row> rows);

/// [{"settings": {field: value}, "metric", "validation_accuracy": {"mean",
/// "deviation"}, "test_accuracy": the same, "runs": [{"run", "seed", "state",
/// "validation_accuracy", "test_accuracy"}]}], with null for what there is not.
/// By another metric, "validation_<metric>" and "test_<metric>" besides; and
/// "epochs" where a search has ended some rows early.
nlohmann::json sweep_json(std::span<const sweep_row> rows);

} // namespace graphmill
