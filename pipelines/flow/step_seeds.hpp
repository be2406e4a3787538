#pragma once

#include "messages/base/ids.hpp"
#include "partition/sampling/time_limits.hpp"
#include "pipelines/flow/seed_batch.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// What the batches of a step are made of, on all ranks. Rows that share nodes
/// are sampled by the time of the earliest row of all ranks, and without the
/// edges that any of them excludes: else weights would depend on the number of
/// ranks. Rows with trees of their own have their own times and exclusions.
class step_seeds {
public:
  /// @param info Borrowed.
  /// @param rows Of the step, by rank.
  /// @param excludes Whether links do not see themselves (`train.exclude`).
  step_seeds(std::shared_ptr<const seed_table> table, const dataset_info& info,
             std::vector<std::vector<seed_row>> rows, const time_rule& time,
             bool excludes);

  const std::vector<seed_row>& rows(rank_id rank) const {
    return rows_[static_cast<std::size_t>(rank)];
  }

  /// The batch of a rank. @param negatives Of its rows.
  seed_batch batch(rank_id rank, const negative_lists& negatives) const;

private:
  std::shared_ptr<const seed_table> table_;
  const dataset_info& info_;
  std::vector<std::vector<seed_row>> rows_;
  time_rule time_;
  bool excludes_;
  std::vector<excluded_edges> excluded_; ///< Empty if rows have trees.
  std::vector<std::int64_t> until_;      ///< Likewise, and without times.
};

} // namespace graphmill
