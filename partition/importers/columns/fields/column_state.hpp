#pragma once

#include "messages/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace graphmill {

/// Reads the fitted state of a transform from JSON. All fail with
/// `invalid_data` and the name of the field that is missing or wrong.

/// A finite number.
result<double> state_number(const nlohmann::json& state, const char* key);

/// Finite numbers.
result<std::vector<double>> state_numbers(const nlohmann::json& state,
                                          const char* key);

result<std::vector<std::string>> state_texts(const nlohmann::json& state,
                                             const char* key);

} // namespace graphmill
