#pragma once

#include "pipelines/definition/validation/validation.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace graphmill::test {

/// What is wrong with a definition for a dataset, by itself and together with
/// it.
/// @param fields All but the dataset's name.
inline std::vector<std::string>
found_problems(std::string_view fields, const dataset_info& info,
               data_use use = data_use::training) {
  const auto source = parse_definition(
    fmt::format("{{dataset: {}, {}}}", info.name, fields), "x.yaml");
  std::vector<std::string> out;
  for (const auto& one : source.problems)
    out.push_back(one.text);
  for (const auto& one : problems_with(source, info, use))
    out.push_back(one.text);
  return out;
}

/// For typed graphs: fields but the dataset's name and the kind.
inline std::vector<std::string>
typed_problems(const std::string& rest, const dataset_info& info,
               data_use use = data_use::training) {
  return found_problems("model: {kind: hetero_sage}, " + rest, info, use);
}

/// Checks that this is wrong with such a definition, and nothing else.
inline void check_one_problem(const std::string& rest, const std::string& said,
                              const dataset_info& info) {
  CATCH_INFO(rest);
  const auto found = typed_problems(rest, info);
  CATCH_REQUIRE(found.size() == 1);
  CATCH_CHECK_THAT(found[0], contains(said));
}

} // namespace graphmill::test
