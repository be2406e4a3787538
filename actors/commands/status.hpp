#pragma once

#include "actors/commands/options/cluster_options.hpp"
#include "messages/base/error.hpp"

#include <string>

namespace graphmill {

/// How a run is, as `status RUN` prints it; of the latest one if `run` is
/// empty.
/// @param watch Again every second, until the run is over, a signal comes, or
/// nobody reads it any more.
/// @param actors Each of them, rather than a screen.
/// @param daemon Whose actors alone are shown; empty: all.
/// @returns the exit code.
result<int> show_run_status(const cluster_options& cluster,
                            const std::string& run, bool watch, bool actors,
                            const std::string& daemon = {});

} // namespace graphmill
