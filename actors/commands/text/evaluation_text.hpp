#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace graphmill {

/// What an evaluation gives (`evaluation_json`), in few words: accuracy, if
/// there is one, loss, and of how many seeds. May come from anywhere.
std::string measured_text(const nlohmann::json& told);

/// Its metrics over all classes, labels, numbers or links; empty if there are
/// none.
std::string metrics_text(const nlohmann::json& told);

/// Those of the ranks of links.
std::string ranks_text(const nlohmann::json& told);

/// Over what ROC-AUC and average precision are means.
std::string means_text(const nlohmann::json& told);

/// What a decision threshold makes of the class that it is of; empty if there
/// is none.
std::string threshold_text(const nlohmann::json& told);

} // namespace graphmill
