#pragma once

#include "actors/run/run_observer.hpp"
#include "messages/base/progress.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/results/run_folder.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/fwd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// The end of a phase as a line of metrics.jsonl. If the best epoch is not
/// chosen by accuracy, it names the `metric`, and those of evaluations have its
/// value under that name. So it does for numbers and links, which have no
/// accuracy.
nlohmann::json metrics_json(const phase_result& done);

/// How many epochs of training lines of metrics.jsonl tell of.
std::int32_t epochs_in(const nlohmann::json& lines);

/// A rank's part of a step as a line of steps.jsonl.
nlohmann::json step_json(const step_result& done);

/// Tells people and files how a run goes: a progress bar per phase, a table row
/// per epoch, a line in metrics.jsonl per phase (and, if the run folder has
/// them, points of the curves for TensorBoard), and one in steps.jsonl per rank
/// and step if the definition asks for it.
class run_reporter {
public:
  /// @param table Where rows go; null for none.
  /// @param folder Where metrics go; null for none. Must outlive this.
  run_reporter(std::FILE* table, progress_callback bar, run_folder* folder)
    : table_(table), bar_(std::move(bar)), folder_(folder) {}

  /// Calls phases other than training so, in place of their own names, for a
  /// command that has one phase of a run done for a purpose of its own.
  void call_work(std::string name) { work_ = std::move(name); }

  /// Takes the bar away, for something else is about to be printed.
  void hide_bar() const {
    if (bar_)
      bar_({});
  }

  /// Nothing more is told of the run: takes the bar away, and prints the row of
  /// an epoch whose validation has not come.
  void end_table() {
    hide_bar();
    flush_row();
  }

  /// Also logs a line per phase.
  void log_to(std::shared_ptr<spdlog::logger> log) { log_ = std::move(log); }

  /// An observer that calls this object, which must outlive the run.
  run_observer observer();

  /// The metrics of the last phase of this kind, if there was one.
  std::optional<batch_metrics> last(phase which) const;
  std::int32_t epochs() const { return epochs_; }
  /// The epoch, from 1, of the best validation so far, the first of equals:
  /// whose weights a run ends with. Nothing without validation.
  std::optional<std::int32_t> best_epoch() const { return best_epoch_; }
  /// The line of its validation; null without one.
  const nlohmann::json& best_line() const { return best_line_; }
  /// `evaluation_json` of the last phase of this kind that this process has
  /// seen; null if there was none.
  const nlohmann::json& told(phase which) const {
    return told_[static_cast<std::size_t>(which)];
  }

  /// Goes on after what another process has told of the run, or where the run
  /// has gone back to: what was told otherwise does not count any more. Keeps
  /// none of the lines but the best one.
  /// @param lines Of metrics.jsonl, an array.
  void go_on_after(const nlohmann::json& lines);

private:
  void tell_events(const nlohmann::json& line);
  void add_threshold_of(nlohmann::json& to, const phase_result& done) const;
  void note_validation(const nlohmann::json& line, double quality);
  void warn_without_quality(const phase_result& done);
  void on_step(const phase_request& work, std::int64_t done);
  result<void> on_phase(const phase_result& done);
  result<void> on_record(const step_result& done);
  void print_row(const phase_result& done);
  void flush_row(const std::optional<phase_result>& validation = {});

  std::FILE* table_;
  progress_callback bar_;
  std::string work_; ///< What the bar calls it; empty: as the phase is called.
  run_folder* folder_;
  std::shared_ptr<spdlog::logger> log_;  ///< Null: none.
  std::optional<phase_result> training_; ///< A row that waits for validation.
  std::array<std::optional<batch_metrics>, 3> last_;
  std::array<nlohmann::json, 3> told_; ///< Of phases; null for none.
  std::int32_t epochs_ = 0;
  std::optional<std::int32_t> best_epoch_;
  double best_quality_ = 0; ///< Of `best_epoch_`; the larger the better.
  nlohmann::json best_line_;
  bool events_fail_ = false; ///< The last ones; so much has been said.
  bool header_ = false;
};

} // namespace graphmill
