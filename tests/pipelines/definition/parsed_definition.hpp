#pragma once

#include "pipelines/definition/definition_file.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

// Definitions in tests, and what is wrong with them.

namespace graphmill::test {

using texts = std::vector<std::string>;

inline definition_source parse(std::string_view text,
                               const texts& overrides = {}) {
  return parse_definition(text, "x.yaml", overrides);
}

inline texts problems_of(const definition_source& source) {
  texts out;
  for (const auto& problem : source.problems)
    out.push_back(to_string(problem));
  return out;
}

inline texts problems_in(std::string_view text, const texts& overrides = {}) {
  return problems_of(parse(text, overrides));
}

inline definition valid(std::string_view text, const texts& overrides = {}) {
  const auto source = parse(text, overrides);
  CATCH_REQUIRE(problems_of(source) == texts{});
  return source.value;
}

} // namespace graphmill::test
