#pragma once

#include "actors/run/conductor.hpp"
#include "actors/run/run_reporter.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/results/run_folder.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// A run that is over, with what its processes tell of it.
struct run_result {
  run_outcome outcome;
  std::vector<stage_report> stages;
  double seconds = 0;     ///< From the first batch to the last.
  double cpu_seconds = 0; ///< Of the process in that time.
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t peak_credit_bytes = 0; ///< Most that batches had reserved.
  std::uint64_t oversize_batches = 0;
  std::uint64_t retried_batches = 0;
};

/// The stages' figures as a table for people, and as JSON.
std::string render_stages(const run_result& run);
nlohmann::json stages_json(const run_result& run);

/// The summary that `--json` prints and summary.json keeps. `cache` says what
/// the cache of remote rows spared, `disk` what was read from disk, both over
/// all daemons; null without.
/// @param folder Of the run, as the user may find it.
nlohmann::json summarise(const run_result& run, const run_reporter& reporter,
                         const std::string& folder);

/// What became of a run once its results were to be saved.
struct saved_run {
  /// Why the run failed, or why its results could not be saved, or both in one
  /// sentence. `ec::cancelled` if the user stopped it and all is saved.
  std::optional<error> failure;
  bool has_weights = false; ///< They are in the folder.
};

/// Writes the weights, if there are any, and the summary. Sets `error` in the
/// summary to what has failed by then.
saved_run save_run(const run_outcome& outcome, nlohmann::json& summary,
                   run_folder& folder);

} // namespace graphmill
