#pragma once

// Catch2 with prefixed macros (CATCH_REQUIRE, ...), for libtorch pulls in glog,
// whose CHECK would collide.
#define CATCH_CONFIG_PREFIX_ALL
#if __has_include(<catch2/catch.hpp>)
#  include <catch2/catch.hpp>
#else
#  include <catch2/catch_all.hpp>

using Catch::Approx; // As version 2 has it.
#endif

#include <string>

namespace graphmill::test {

/// Matches a text with `part` in it.
inline auto contains(const std::string& part) {
#if CATCH_VERSION_MAJOR >= 3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

} // namespace graphmill::test
