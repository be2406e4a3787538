#pragma once

#include "actors/run/local_run.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/run_folder.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace graphmill {

/// Options of the commands that train.
struct training_options {
  bool no_verify = false;
  storage_choice storage;
  bool json = false;
  bool quiet = false;
  std::string trace{}; ///< Where the last spans of the run go; empty: nowhere.
};
void add_training_options(CLI::App& command, training_options& options);

/// Trains in this process, writes all that a run leaves to its folder, and
/// tells what became of it.
/// @param folder Held by this process. @param config With definition and data.
/// @param dataset_digest, parts Of its data, for checkpoints.
/// @param before What the run goes on from, which takes its state, so that that
/// does not stay in memory; null: it begins.
/// @returns the exit code.
result<int> train_in(run_folder& folder, local_run_config config,
                     const std::string& dataset_digest, part_id parts,
                     const training_options& options,
                     checkpoint* before = nullptr);

} // namespace graphmill
