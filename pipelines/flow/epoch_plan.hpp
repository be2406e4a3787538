#pragma once

#include "messages/base/ids.hpp"
#include "messages/base/whole_pages.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/sampling/inclusion.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// How the seeds of an epoch are cut.
struct epoch_plan_options {
  std::int64_t batch_size = 1; ///< Seeds per global step, over all ranks; >= 1.
  rank_id ranks = 1;           ///< World size; >= 1.
  seed_order order = seed_order::local;
  /// For `local`: the part that owns the first node of a seed, which is the
  /// source of an edge; rank part % ranks is near it. Empty: one part owns all.
  std::function<part_id(seed_row)> owner;
  bool shuffle = true; ///< In training.
};

/// Which seeds each rank takes in each global step of one epoch: a pure
/// function of its arguments, computed alike on every daemon, so that no daemon
/// has to tell another one. It never changes once it is made, and any number of
/// threads may ask it.
///
/// Seeds are rows of a table, of which the plan knows the positions alone.
/// Training shuffles them, unless it is to keep their order, by a Fisher-Yates
/// permutation, drawn from (run seed, permutation, epoch), and cuts it into
/// global steps of `batch_size`, the last one smaller. Evaluation keeps the
/// original order. Counts of the ranks of a step differ by at most one; a rank
/// may have none. No seed is repeated or dropped.
///
/// With order `global`, each rank takes a run of consecutive seeds of the step,
/// and the longer runs go first: who takes a seed depends on its position alone
/// and not on who owns it. With `local`, a step has the same set of seeds, but
/// as many of them as the counts allow go to the rank near their owner; the
/// others fill the ranks that have room, in rank order. Each rank keeps the
/// order of the step.
class epoch_plan {
public:
  /// @param rows Seeds of the split; at least 0.
  epoch_plan(std::int64_t rows, epoch_plan_options options,
             std::uint64_t run_seed, phase which, std::int32_t epoch);
  epoch_plan(epoch_plan&&) noexcept = default;
  epoch_plan& operator=(epoch_plan&&) noexcept = default;

  /// Global steps of the epoch: ceil(seeds / batch size).
  std::int64_t steps() const;

  /// Seeds of a step over all ranks; 0 for a step that is not in the epoch.
  std::int64_t global_seeds(std::int64_t step) const;

  /// The seeds of one rank in one step. Empty for a rank or a step that does
  /// not exist.
  std::vector<seed_row> seeds(std::int64_t step, rank_id rank) const;

  /// The seeds of every rank in one step; cheaper than asking one by one.
  std::vector<std::vector<seed_row>> split(std::int64_t step) const;

private:
  std::vector<seed_row> of_step(std::int64_t step) const;
  std::vector<rank_id> near_ranks(std::span<const seed_row> seeds) const;

  epoch_plan_options options_;
  std::int64_t rows_;
  /// Empty unless training.
  std::vector<seed_row, whole_pages<seed_row>> shuffled_;
};

/// How a definition has the seeds of a phase cut for `world` ranks.
/// @param graph, seeds Kept by the options.
epoch_plan_options plan_options(const definition& def,
                                std::shared_ptr<const partitioned_graph> graph,
                                std::shared_ptr<const seed_table> seeds,
                                rank_id world, phase which);

/// How likely each training seed is in a batch of a rank, by counting its plans
/// of the first epochs of the run. Seeds that the rank takes in none of them
/// are left out; ids of a type ascend. Of edges both ends count, and their
/// negatives, which may be any nodes, do not.
std::vector<seed_chance>
seed_chances(const definition& def,
             const std::shared_ptr<const partitioned_graph>& graph,
             rank_id world, rank_id rank);

} // namespace graphmill
