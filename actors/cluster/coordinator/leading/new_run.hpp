#pragma once

#include "messages/base/error.hpp"

namespace graphmill {

struct coordinator_config;
struct resumption;
struct submitted_run;

/// Makes the folder of a run that is submitted and its place in the history, or
/// neither. Takes as long as the disk does. @param run Has its definition,
/// place and home.
result<void> make_run(const coordinator_config& config, submitted_run& run,
                      const resumption& from);

} // namespace graphmill
