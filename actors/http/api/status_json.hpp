#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace graphmill {

// The documents of `graphmill status --json`, which a coordinator tells over
// HTTP, too: both are written here.

/// The daemons in service that have a part, for each part that one has.
std::map<part_id, std::vector<std::string>> owners_in(const status_reply& now);

/// A cluster. @param address At which its coordinator is asked.
nlohmann::json status_json(const std::string& address, const status_reply& now);

/// A run that is on: the whole model, by its names in snake_case.
nlohmann::json run_status_json(const run_health& run);

/// A run that is not on: what has become of it.
nlohmann::json run_status_json(const run_record& run);

} // namespace graphmill
