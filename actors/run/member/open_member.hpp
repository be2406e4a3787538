#pragma once

#include "actors/run/member/member.hpp"
#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/planning/storage_decision.hpp"

#include <memory>
#include <vector>

namespace graphmill {

/// Which parts and trainers of a run one process has.
struct member_share {
  std::vector<part_id> parts; ///< Served here, ascending.
  std::vector<rank_id> ranks; ///< Trained here, ascending.
  rank_id world = 1;          ///< Trainers of the run in all.

  /// All of it, for a run in one process.
  static member_share all(const definition& def,
                          const partitioned_graph& graph);
};

/// Opens the parts of a share and works out what to sample. The caller adds the
/// sink and what it needs, storage, links, log and gauges. This takes a while,
/// so no handler may do it.
/// @param def Which has been checked for the graph.
/// @param whole As it was opened; the member has it as the definition's
/// `labels` or `task` show it.
/// @param use Only a run that learns refuses rows that are older than what it
/// learns (`check_visible_past`). A feed of training rows may learn.
/// @param negatives Whether links of a split come with negatives.
result<member_config>
open_member(const definition& def,
            std::shared_ptr<const partitioned_graph> whole,
            const member_share& share, data_use use, bool negatives = true);

/// Decides where the parts of a member are read from, sees to it, and makes the
/// pool of its batches.
/// @param plan Of its definition.
result<void> settle_storage(member_config& member, const storage_choice& choice,
                            const run_plan& plan);

} // namespace graphmill
