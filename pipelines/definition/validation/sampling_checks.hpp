#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// What is wrong with how a definition samples a dataset: the paths of fields,
/// each with a sentence. What a definition alone tells is none of it.
/// @param feeding The model is defined elsewhere.
std::vector<std::pair<std::string, std::string>>
problems_with_sampling(const definition& def, const dataset_info& info,
                       bool feeding);

} // namespace graphmill
