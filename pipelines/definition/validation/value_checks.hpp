#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// What of a definition does not go together with labels that are numbers, or
/// asks for these where labels are classes: the path of a field, and a sentence
/// for each. One metric says which of both labels are, wherever results are
/// told: numbers and classes have none in common.
/// Nothing of links.
/// @param info As `choose_target` shows it.
std::vector<std::pair<std::string, std::string>>
problems_with_values(const definition& def, const dataset_info& info);

/// A sentence to warn with, if metrics of numbers cannot be told of so many
/// seeds: their labels and predictions are brought together, as scores of
/// classes are, and must fit into memory. Their loss can be told.
/// @param info As above.
std::optional<std::string> note_on_values(const dataset_info& info,
                                          std::uint64_t seeds);

} // namespace graphmill
