#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "actors/cluster/daemon/shares/share_life.hpp"
#include "actors/process/memory_probe.hpp"
#include "actors/remote/calls/row_audit.hpp"
#include "actors/remote/counters.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/stages/stage_table.hpp"
#include "actors/transport/sessions/traffic.hpp"
#include "messages/wire/run.hpp"
#include "partition/sampling/rows/row_cache.hpp"
#include "partition/sampling/rows/row_census.hpp"
#include "pipelines/health/actor_gauge.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <memory>
#include <vector>

namespace graphmill {

/// A daemon's share of a run, with all that the daemon keeps of it. What
/// becomes of the share is known by `life`. Used in the AGENT's
/// handlers alone.
struct hosted_share {
  deployment assignment;
  share_life life;
  responder deployed; ///< Answered when others can ask for its parts.
  stage_table stages;
  std::shared_ptr<const gauge_board> health; ///< Null before it is prepared.
  std::shared_ptr<dispatcher_gauges> gauges =
    std::make_shared<dispatcher_gauges>();
  std::shared_ptr<remote_counters> wire = std::make_shared<remote_counters>();
  std::shared_ptr<row_cache> cache = std::make_shared<row_cache>();
  /// What filling it took.
  std::shared_ptr<remote_counters> filling =
    std::make_shared<remote_counters>();
  /// Of rows that are asked for, where there is no cache; else empty.
  std::shared_ptr<row_census> census = std::make_shared<row_census>();
  std::shared_ptr<row_audit> audit; ///< Null: nothing is checked.
  run_reports_actor relay;
  member_actor member; ///< None before it is prepared.
  std::shared_ptr<const std::vector<named_tensor>> snapshot;
  /// The last one that the coordinator has asked for.
  std::shared_ptr<const std::vector<named_tensor>> checkpoint;
  /// What trainers are to take over, as far as it has come.
  std::shared_ptr<std::vector<named_tensor>> loading;
  std::uint64_t loaded_values = 0;
  std::uint64_t most_loaded_values = 0; ///< That the trainers here can use.
  memory_probe memory;
  double cpu_before = 0;
  traffic sent_before;
  std::vector<responder> ending; ///< Answered when the member is gone.
  bool keeping = false; ///< It ends once what its trainers have is kept.
  /// The coordinator goes on without the run: nothing of it is kept.
  bool dropped = false;
  std::vector<responder> asked_kept; ///< Answered then.
  data_guard::records records;       ///< Of the data that it has mapped.
};

/// What the daemon did for the run, for its report.
/// @param sent Of its transport until now.
member_reply final_report(hosted_share& run, const traffic& sent);

/// What trainers have answered to an action, whose tensors are kept to be
/// fetched in pieces.
member_reply keep_states(hosted_share& run, trainer_action action,
                         const member_state& state);

/// A piece of the last snapshot, or of the last checkpoint.
result<payload> piece_of(const hosted_share& run,
                         const weights_request& wanted);

/// Takes a piece of what trainers are to take over. Pieces come in order, and
/// no more of them than trainers can use.
/// @param values The bulk of the order.
result<void> load_piece(hosted_share& run, const member_request& piece,
                        const payload& values);

} // namespace graphmill
