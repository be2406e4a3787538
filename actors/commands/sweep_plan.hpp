#pragma once

#include "actors/commands/text/sweep_table.hpp"
#include "messages/definition/definition.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// What `submit` was asked to run many times.
struct sweep_options {
  std::string file;
  std::vector<std::string> overrides; ///< Of all runs.
  std::vector<std::string> tags;      ///< Added to the names of all runs.
  std::vector<std::string> grid;      ///< As --grid got them.
  std::uint32_t repeat = 1; ///< Runs of each combination, seeds one apart.
  std::uint32_t random = 0; ///< Combinations that are drawn; 0: all of them.
  std::uint64_t search_seed = 1;
  std::uint32_t halving = 0; ///< Of so many rows one goes on; 0: all do.
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
  /// Epochs of runs when fewer of them go on, ascending; the last one is that
  /// of the definition. Empty: none are ended early.
  std::vector<std::uint32_t> rungs;
};

/// All definitions of a sweep. Fails if anything is wrong with one.
result<sweep_plan> plan_sweep(const sweep_options& options);

/// Successive halving (Jamieson and Talwalkar, AISTATS'16): how many epochs
/// runs have when of `among` settings one in `halving` goes on, at the last
/// rung `epochs`. One number alone if there is nothing to halve.
std::vector<std::uint32_t>
halving_rungs(std::uint32_t epochs, std::size_t among, std::uint32_t halving);

} // namespace graphmill
