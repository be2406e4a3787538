#pragma once

#include "actors/run/run_observer.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/wire/health.hpp"
#include "messages/work/work_report.hpp"
#include "pipelines/results/run_folder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

class gauge_board;

/// A run that is over, with what its processes tell of it.
struct run_result {
  run_outcome outcome;
  work_report work;   ///< Of all processes.
  double seconds = 0; ///< From the first batch to the last.
  /// How its actors were, over the whole run; without daemons: not known.
  run_health health;
  /// Of a run in this process: what its actors did last, for a trace.
  std::shared_ptr<const gauge_board> actors;
};

/// The rows of the table that users see: the stages, then what was counted
/// besides, each kind of it as a row without replicas.
std::vector<stage_report> table_of(const work_report& work);

/// Such a table for people, and as JSON.
/// @param seconds That the run took.
std::string render_table(const std::vector<stage_report>& rows, double seconds);
nlohmann::json table_json(const std::vector<stage_report>& rows);

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
/// @param trains Whether there are weights after a success.
saved_run save_run(const run_outcome& outcome, nlohmann::json& summary,
                   run_folder& folder, bool trains = true);

} // namespace graphmill
