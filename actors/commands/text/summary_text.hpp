#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace graphmill {

/// The summary of a run, as `train --json` prints it, for people. May come from
/// anywhere: what it lacks, or has in another form, is left out.
std::string summary_text(const nlohmann::json& summary);

/// Its last lines: what has limited the run, and what has come of it.
std::string result_text(const nlohmann::json& summary);

} // namespace graphmill
