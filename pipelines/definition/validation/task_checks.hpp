#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// What of a definition does not go together with the task of edges that it
/// chooses: the path of a field, and a sentence for each.
/// @param info As `choose_target` shows it, with a chosen task.
std::vector<std::pair<std::string, std::string>>
problems_with_task(const definition& def, const dataset_info& info);

/// The part of it that concerns batches: their negatives. For a model that is
/// defined elsewhere.
std::vector<std::pair<std::string, std::string>>
problems_with_negatives(const definition& def, const dataset_info& info);

} // namespace graphmill
