#pragma once

#include "actors/cluster/client/client.hpp"
#include "actors/commands/sweep_plan.hpp"

namespace graphmill {

/// Has all runs queued, waits for them and prints the table of what came of
/// them. Runs that fail are told of; the others go on. A signal ends the
/// waiting, not the runs, and so does a coordinator that is gone: then the
/// table has what there is by then.
/// @returns exit code 0 if all have finished, `exit_cancelled` after a signal,
/// else `exit_failure`. Fails if no run could be queued.
result<int> run_sweep(cluster_client& client, sweep_plan plan,
                      const sweep_options& options);

} // namespace graphmill
