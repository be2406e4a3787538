#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"

#include <string>

namespace graphmill {

struct coordinator_config;
struct leading_parts;
struct resumption;
struct submitted_run;

/// Makes the folder of a run that is submitted and its place in the history, or
/// neither. Takes as long as the disk does. @param run Has its definition,
/// place and home.
result<void> make_run(const coordinator_config& config, submitted_run& run,
                      const resumption& from);

/// Ends a run that has nothing on: its record has this state and reason. The
/// folder of a feed has nothing for anybody, and goes.
void close_record(const leading_parts& with, submitted_run& run,
                  run_state state, std::string reason);

} // namespace graphmill
