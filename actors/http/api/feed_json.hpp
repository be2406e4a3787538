#pragma once

#include "actors/http/api/event_ring.hpp"
#include "actors/http/api/health_history.hpp"

#include <nlohmann/json.hpp>

namespace graphmill {

// The documents of /api/history and /api/events, which actors/monitoring.md
// describes. Times in seconds since 1970.

nlohmann::json history_json(const health_history::page& page);
nlohmann::json events_json(const event_ring::page& page);

} // namespace graphmill
