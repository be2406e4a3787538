#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/stage_list.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// The largest batch that one trainer can get in a phase.
struct planned_batch {
  std::int64_t seeds = 0;  ///< The most of one trainer in one step.
  std::int64_t steps = 0;  ///< The global steps of one pass.
  std::int64_t nodes = 0;  ///< The most nodes, all types together.
  std::int64_t edges = 0;  ///< The most edges, all types together.
  std::uint64_t bytes = 0; ///< The most bytes that it may take.
};

/// The names of those entries of `run_plan::memory` that say what a run may
/// take at most, and not what it needs.
inline constexpr const char* batches_entry = "batches in flight";
inline constexpr const char* allowance_entry = "everything else, at most";

/// What a run takes memory for.
struct planned_memory {
  std::string name; ///< For people.
  std::uint64_t bytes = 0;
};

/// What a run of a definition on this machine will look like, known without
/// running it. Sizes are upper bounds; real batches are mostly far smaller.
struct run_plan {
  std::vector<planned_stage> stages;
  planned_batch train;
  planned_batch evaluation; ///< For validation or test, whichever is larger.
  std::int64_t total_steps = 0;
  std::uint64_t budget_bytes = 0;
  std::uint64_t batches_in_flight = 0; ///< Over all trainers.
  /// Adds up to the most memory a run takes (anonymous and shared; mapped files
  /// apart).
  std::vector<planned_memory> memory;
  std::vector<std::string> notes; ///< Things to know, sentences.

  std::uint64_t total_memory() const;
};

/// Memory that a run may take beyond batches, parameters and activations.
inline constexpr std::uint64_t memory_allowance = std::uint64_t{400} << 20;

/// Plans a run of a definition that is valid for its dataset.
/// @param parts How many parts the graph has.
result<run_plan> plan_run(const definition& def, const dataset_info& info,
                          part_id parts);

} // namespace graphmill
