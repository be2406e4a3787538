#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// A field of a definition with the values that a sweep gives it in turn.
struct sweep_axis {
  std::string field;
  std::vector<std::string> values;
};

/// Reads what --grid was given: "model.hidden=64,256". A comma within brackets
/// or braces belongs to a value, as in "sampler.fanouts=[5,5],[10,10]". Fails
/// if there is no field, no value, an empty one or one that comes twice.
result<sweep_axis> parse_sweep_axis(const std::string& text);

/// Every combination of a value of each axis, as overrides ("field=value") in
/// the order of the axes; the last one changes first. Without axes, one that
/// changes nothing. Fails if a field comes twice, or if there are more than
/// `most`.
result<std::vector<std::vector<std::string>>>
sweep_combinations(std::span<const sweep_axis> axes, std::size_t most);

/// One run of a sweep.
struct sweep_run {
  std::string id;
  std::uint64_t seed = 0;
  std::optional<run_state> state;   ///< Once it is over and was waited for.
  std::optional<double> validation; ///< By `metric`, of its summary.
  std::optional<double> test;
  /// By which its best epoch was chosen. Where labels are numbers and it says
  /// nothing else, mse.
  std::string metric = "accuracy";
  std::optional<double> validation_accuracy = {}; ///< Beside another metric.
  std::optional<double> test_accuracy = {};

  /// Whether less is better.
  bool errors() const {
    return metric == "mse" || metric == "mae" || metric == "loss";
  }
};

/// Of the summary of a run that is over.
sweep_run read_sweep_run(const run_record& run, std::uint64_t seed);

/// The runs of one combination, which differ in their seeds.
struct sweep_row {
  std::vector<std::string> settings; ///< Overrides.
  std::vector<sweep_run> runs;
};

/// Best first: by the mean of `evaluate.metric` over validation or, where a
/// sweep has none, the test; those without any last. Equal ones stay in their
/// order. The smallest errors come first, behind all metrics of which more is
/// better.
void sort_sweep(std::vector<sweep_row>& rows);

/// A row per combination: means, standard deviations over its runs (of samples,
/// n - 1; for one run there is none), how many have finished. Below, the runs
/// of the best, unless others are as good.
std::string sweep_text(std::span<const sweep_row> rows);

/// [{"settings": {field: value}, "metric", "validation_accuracy": {"mean",
/// "deviation"}, "test_accuracy": the same, "runs": [{"run", "seed", "state",
/// "validation_accuracy", "test_accuracy"}]}], with null for what there is not.
/// By another metric, "validation_<metric>" and "test_<metric>" besides.
nlohmann::json sweep_json(std::span<const sweep_row> rows);

} // namespace graphmill
