#pragma once

#include "actors/local_run.hpp"
#include "messages/definition.hpp"
#include "messages/error.hpp"
#include "pipelines/run_folder.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>
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
};
/// --no-verify of the commands that read datasets.
void add_no_verify_option(CLI::App& command, bool& no_verify);

void add_finished_run_options(CLI::App& command, finished_run_options& options);

/// A finished run, ready to be used.
struct finished_run {
  run_folder folder;
  local_run_config config; ///< Definition, data, weights; mode is open.
};
result<finished_run> open_finished_run(const finished_run_options& options);

/// A logger that writes warnings to standard error and everything to `file`
/// (nowhere when that is empty).
/// @param console Gets the warnings in place of standard error.
result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file,
            const spdlog::sink_ptr& console = nullptr);

} // namespace graphmill
