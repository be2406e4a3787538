#include "partition/importers/columns/fields/column_state.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace graphmill {

namespace {

error no_state(const char* key, const char* expected) {
  return fail(ec::invalid_data, "the fitted state has no field \"{}\" with {}",
              key, expected);
}

bool is_finite_number(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

} // namespace

result<double> state_number(const nlohmann::json& state, const char* key) {
  const auto at = state.find(key);
  if (at == state.end() || !is_finite_number(*at))
    return no_state(key, "a finite number");
  return at->get<double>();
}

result<std::vector<double>> state_numbers(const nlohmann::json& state,
                                          const char* key) {
  const auto at = state.find(key);
  if (at == state.end() || !at->is_array())
    return no_state(key, "a list of numbers");
  std::vector<double> out;
  for (const auto& item : *at) {
    if (!is_finite_number(item))
      return no_state(key, "finite numbers only");
    out.push_back(item.get<double>());
  }
  return out;
}

result<std::vector<std::string>> state_texts(const nlohmann::json& state,
                                             const char* key) {
  const auto at = state.find(key);
  if (at == state.end() || !at->is_array())
    return no_state(key, "a list of texts");
  std::vector<std::string> out;
  for (const auto& item : *at) {
    if (!item.is_string())
      return no_state(key, "texts only");
    out.push_back(item.get<std::string>());
  }
  return out;
}

} // namespace graphmill
