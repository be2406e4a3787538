#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"

#include <memory>

namespace graphmill {

class run_queue;

/// Takes up the runs that the coordinator before this one has left. Those that
/// were on go to the front of the queue, in their order, for another attempt.
/// Reads their files, so it may take a while.
/// @param resumed_place As that of `submissions`.
void restore_runs(const leading_parts& with, run_queue& queue,
                  const std::shared_ptr<void>& resumed_place);

} // namespace graphmill
