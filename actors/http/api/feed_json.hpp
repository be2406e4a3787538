#pragma once

#include "messages/wire/log.hpp"
#include "pipelines/figures/actor_periods.hpp"
#include "pipelines/figures/cluster_history.hpp"
#include "pipelines/figures/event_ring.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace graphmill {

// The documents of /api/history, /api/actors, /api/events and /api/logs, which
// actors/monitoring.md describes. Times in seconds since 1970.

nlohmann::json history_json(const cluster_history::page& page);
/// Of a daemon's actors, or of those of one kind. @param most_rows Of all these
/// together: periods before that are left out.
nlohmann::json actors_json(const std::vector<actor_periods::period>& periods,
                           const std::string& daemon, const std::string& kind,
                           std::size_t most_rows);
nlohmann::json events_json(const event_ring::page& page);
nlohmann::json log_json(const log_reply& page);

} // namespace graphmill
