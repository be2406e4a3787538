#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// What of a definition does not go together with labels that are numbers, or
/// asks for these where labels are classes: the path of a field, and a sentence
/// for each. One metric says which of both labels are, wherever results are
/// told: numbers and classes have none in common.
/// @param info As the label set shows it that the definition chooses.
std::vector<std::pair<std::string, std::string>>
problems_with_values(const definition& def, const dataset_info& info);

} // namespace graphmill
