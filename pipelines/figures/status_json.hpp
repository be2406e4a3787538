#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace graphmill {

// The documents of `graphmill status --json` and `graphmill runs --json`, which
// a coordinator tells over HTTP, too: both are written here. Times are in
// seconds since 1970.

/// The daemons in service that have a part, for each part that one has.
std::map<part_id, std::vector<std::string>> owners_in(const status_reply& now);

/// A cluster. @param address At which its coordinator is asked.
nlohmann::json status_json(const std::string& address, const status_reply& now);

/// A run that is on: the whole model, by its names in snake_case.
nlohmann::json run_status_json(const run_health& run);

/// A run that is not on: what has become of it, with its summary in brief.
nlohmann::json run_status_json(const run_record& run);

/// A list of runs.
nlohmann::json run_list_json(const runs_reply& runs);

/// The summary of a run; null if there is none yet.
nlohmann::json summary_json(const run_record& run);

/// A summary without what grows with stages and daemons, for lists.
std::string brief_summary(const std::string& summary);

} // namespace graphmill
