#pragma once

#include "pipelines/planning/cache_report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace graphmill {

/// What caches of remote rows would spare, a row per size.
std::string cache_text(const cache_report& report);

/// {"parts", "trainers", "steps", "sizes": [{"share", "bytes", "vip_rows",
/// "degree_rows", "least_rows"}]}
nlohmann::json cache_json(const cache_report& report);

} // namespace graphmill
