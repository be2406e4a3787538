#pragma once

#include "actors/http/metric_writer.hpp"
#include "messages/wire/health.hpp"

#include <vector>

namespace graphmill {

/// Writes what daemons have told of their shares of a run: of each daemon, of
/// its ways to others, and of each of its actors.
/// @param shares Of different daemons.
void write_shares(metric_writer& to,
                  const std::vector<const daemon_health*>& shares);

} // namespace graphmill
