#pragma once

#include "pipelines/results/run_listing.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace graphmill {

/// A table of the runs in a folder, and a line of what all of them take.
/// @param shown At most so many rows.
std::string local_runs_text(const std::vector<listed_run>& runs,
                            std::size_t shown);

/// The same as JSON, without the sum.
nlohmann::json local_runs_json(const std::vector<listed_run>& runs,
                               std::size_t shown);

} // namespace graphmill
