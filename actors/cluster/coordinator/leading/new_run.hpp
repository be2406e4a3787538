#pragma once

#include "actors/cluster/coordinator/leading/resumption.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"

namespace graphmill {

/// Makes the folder of a run that is submitted and its place in the history, or
/// neither. Takes as long as the disk does. @param run Has its definition,
/// place and home.
result<void> make_run(const coordinator_config& config, submitted_run& run,
                      const resumption& from);

} // namespace graphmill
