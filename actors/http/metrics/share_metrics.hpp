#pragma once

#include "actors/http/metrics/metric_writer.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

#include <vector>

namespace graphmill {

/// Writes what daemons take, of those that have told.
void write_loads(metric_writer& to, const std::vector<daemon_status>& daemons);

/// Writes what daemons have told of their shares of runs: of each daemon, of
/// its ways to others, and of each of its actors.
/// @param shares Of different daemons, or runs.
/// @param several Whether each sample names its run; else all are of one.
void write_shares(metric_writer& to,
                  const std::vector<const daemon_health*>& shares,
                  bool several);

} // namespace graphmill
