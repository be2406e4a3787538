#include "pipelines/definition/measured_seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace graphmill {

std::optional<split> split_of(measured_split which) {
  switch (which) {
  case measured_split::none:
    break;
  case measured_split::train:
    return split::train;
  case measured_split::validation:
    return split::validation;
  case measured_split::test:
    return split::test;
  }
  return std::nullopt;
}

std::string_view to_string(measured_split which) {
  switch (which) {
  case measured_split::none:
    break;
  case measured_split::train:
    return "train";
  case measured_split::validation:
    return "validation";
  case measured_split::test:
    return "test";
  }
  return "none";
}

std::string work_without_training(const definition& def) {
  if (def.evaluate.predict)
    return "predict";
  return trains_nothing(def)
           ? fmt::format("evaluate {}", to_string(def.evaluate.only))
           : std::string{};
}

std::optional<measured_split> measured_split_named(std::string_view name) {
  for (const auto which : {measured_split::train, measured_split::validation,
                           measured_split::test})
    if (to_string(which) == name)
      return which;
  return std::nullopt;
}

std::uint64_t most_measured_seeds(const definition& def,
                                  const node_type_info& target) {
  const auto only = split_of(def.evaluate.only);
  std::int64_t most = 0;
  for (const auto which : {split::train, split::validation, split::test})
    if (only ? which == *only : which != split::train)
      most =
        std::max(most, target.split_counts[static_cast<std::size_t>(which)]);
  return static_cast<std::uint64_t>(most);
}

} // namespace graphmill
