#pragma once

#include "actors/http/api/event_ring.hpp"
#include "actors/http/api/health_history.hpp"
#include "messages/wire/log.hpp"

#include <nlohmann/json.hpp>

namespace graphmill {

// The documents of /api/history, /api/events and /api/logs, which
// actors/monitoring.md describes. Times in seconds since 1970.

nlohmann::json history_json(const health_history::page& page);
nlohmann::json events_json(const event_ring::page& page);
nlohmann::json log_json(const log_reply& page);

} // namespace graphmill
