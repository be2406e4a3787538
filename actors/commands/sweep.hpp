#pragma once

#include "actors/cluster/client/client.hpp"
#include "actors/commands/text/sweep_table.hpp"
#include "messages/definition/definition.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// What `submit` was asked to run many times.
struct sweep_options {
  std::string file;
  std::vector<std::string> overrides; ///< Of all runs.
  std::vector<std::string> grid;      ///< As --grid got them.
  std::uint32_t repeat = 1; ///< Runs of each combination, seeds one apart.
  bool tensorboard = false;
  bool json = false;
  bool quiet = false;
};

/// How many runs a sweep may have: as many as one host may have waiting.
inline constexpr std::size_t most_sweep_runs = 90;

/// The runs of a sweep before they are queued.
struct sweep_plan {
  struct planned_run {
    std::size_t row; ///< Of `rows`.
    definition def;
  };
  std::vector<planned_run> runs; ///< In the order of the queue.
  std::vector<sweep_row> rows;   ///< Without runs yet.
};

/// All definitions of a sweep. Fails if anything is wrong with one.
result<sweep_plan> plan_sweep(const sweep_options& options);

/// Has all runs queued, waits for them and prints the table of what came of
/// them. Runs that fail are told of; the others go on. A signal ends the
/// waiting, not the runs, and so does a coordinator that is gone: then the
/// table has what there is by then.
/// @returns exit code 0 if all have finished, `exit_cancelled` after a signal,
/// else `exit_failure`. Fails if no run could be queued.
result<int> run_sweep(cluster_client& client, sweep_plan plan,
                      const sweep_options& options);

} // namespace graphmill
