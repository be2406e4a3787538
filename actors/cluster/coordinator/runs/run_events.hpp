#pragma once

#include "actors/cluster/coordinator/runs/attempt.hpp"

#include <cstddef>
#include <string>

namespace graphmill {

struct deployment;
struct run_events;
struct submitted_run;

/// Passes events of a daemon on to the conductor of a run. Events that have
/// come before are passed over, those of ranks of other daemons are refused.
/// @returns what the run is to do now.
result<attempt::task> accept_events(submitted_run& run,
                                    const std::string& daemon,
                                    const run_events& events);

/// What a daemon is told to prepare. @param daemon By its place in the run.
/// @param coordinator Its address.
deployment deployment_of(const submitted_run& run, std::size_t daemon,
                         const std::string& dataset_digest,
                         const std::string& coordinator);

} // namespace graphmill
