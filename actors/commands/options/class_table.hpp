#pragma once

#include "partition/dataset/inspection/class_census.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace graphmill {

/// A table of the classes, by number: nodes and seeds of each. Of many classes,
/// the first ones. Empty if labels are numbers.
std::string class_table(const class_census& census);

/// All classes as JSON, an array.
nlohmann::json classes_json(const class_census& census);

} // namespace graphmill
