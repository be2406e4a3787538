#pragma once

#include "actors/cluster/client/client.hpp"
#include "pipelines/health/run_trace.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace graphmill {

/// Which part of a run is to be traced.
struct trace_wish {
  std::string run; ///< Its id.
  /// So long before the last thing that was done, as far as daemons still know.
  std::chrono::milliseconds last{0};
  /// If not 0: instead, so many training steps. Of a run that is on, those
  /// after this; of one that is over, its last ones.
  std::size_t steps = 0;
};

/// The most training steps of a trace.
inline constexpr std::size_t most_traced_steps = 1000;

/// Has the daemons of a run tell what their actors did, through the
/// coordinator, and puts it on one clock. Waits for the steps, for the end of
/// the run, or until there is more than can be shown; a signal ends that with
/// `ec::cancelled`.
/// @returns a trace that is aligned. `ec::not_found` if no daemon knows of the
/// run any more.
result<run_trace> fetch_trace(cluster_client& client, const trace_wish& wish,
                              signal_watch& signals);

} // namespace graphmill
