#pragma once

#include "actors/run/local_run.hpp"
#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/run_folder.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Options of the commands that go on with a finished run.
struct finished_run_options {
  std::string run;
  std::string data;       ///< Empty: where the run found it.
  std::string neighbours; ///< "sampled", "all"; empty: as in the definition.
  bool no_verify = false;
  storage_choice storage;
  bool json = false;
  bool quiet = false;
  bool measures = false; ///< Labels of the data are compared with outputs.
  std::string threshold; ///< PROBABILITY:CLASS or none; empty: of the run.
};
/// --no-verify of the commands that read datasets.
void add_no_verify_option(CLI::App& command, bool& no_verify);

/// --tensorboard of the commands that have a run folder made.
void add_tensorboard_flag(CLI::App& command, bool& tensorboard);

void add_finished_run_options(CLI::App& command, finished_run_options& options);

/// A finished run, ready to be used.
struct finished_run {
  run_folder folder;
  local_run_config config;    ///< Definition, data, weights; mode is open.
  bool other_dataset = false; ///< The data are not those it was trained on.
  /// As `evaluate.threshold`, with a probability; empty: none. The definition
  /// has it if outputs are compared with labels.
  std::string threshold;
};
result<finished_run> open_finished_run(const finished_run_options& options);

/// The threshold by which a finished run predicts classes or labels, with its
/// probability. Fails if it has one, and what it predicts is neither.
/// @param info As the run's definition and weights show it.
result<std::optional<threshold_choice>> threshold_in(const finished_run& run,
                                                     const dataset_info& info);

/// What that makes of predictions, a line for users.
/// @param rows Such as "nodes".
std::string threshold_line(const threshold_choice& threshold,
                           std::string_view rows);

/// In which epoch a run has measured a split for the numbers that it ends with,
/// from 0: if neighbours are sampled, the draws depend on it. That of its best
/// validation, or of its last test; 0 if it has no summary, and so has said
/// nothing.
std::int32_t drawn_in(const run_folder& run, split which);

/// Has a run go over the rows of a split, in mode evaluate. Neighbours are
/// drawn as for the numbers that the run ends with.
void go_over(finished_run& run, split which);

/// What `submit_run` takes.
struct submission {
  definition def;
  std::optional<learnt_from> learnt = std::nullopt; ///< Its weights.
};

/// Has a cluster predict with the weights of a finished run: by the definition
/// of the run, with all neighbours unless the overrides say otherwise, and
/// without what is for training alone.
/// @param run Its folder.
/// @param rows A split: the edges in it are predicted, by a run that has learnt
/// a task of edges. `none`: all nodes are; of a run of edges, their outputs.
/// @param overrides As those of `load_definition`. Fails if they set what the
/// command decides, such as `evaluate.predict`, or what is for training alone,
/// such as `train.patience`.
result<submission> prediction_by(const std::string& run, measured_split rows,
                                 const std::vector<std::string>& overrides);

/// Has a cluster measure a split with the weights of a finished run, and draw
/// neighbours as `graphmill evaluate` does. The rest is as above, but that
/// neighbours are used as in the run's definition. Overrides must not set
/// `evaluate.only` or `train.epochs`, either.
/// @param which Not `none`.
result<submission> evaluation_by(const std::string& run, measured_split which,
                                 const std::vector<std::string>& overrides);

} // namespace graphmill
