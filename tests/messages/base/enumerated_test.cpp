#include "messages/words/enumerated.hpp"

#include "tests/support/catch.hpp"

#include <set>
#include <string>
#include <vector>

using graphmill::enumerated;

CATCH_TEST_CASE("of many names a few are told", "[messages]") {
  using names = std::vector<std::string>;
  CATCH_CHECK(enumerated(names{}) == "");
  CATCH_CHECK(enumerated(std::set<std::string>{"b", "a"}) == "a, b");
  CATCH_CHECK(enumerated(names{"a", "b", "c"}, 3) == "a, b, c");
  CATCH_CHECK(enumerated(names{"a", "b", "c"}, 2) == "a, b and 1 more");
  // Daemons of a cluster, with the longest names that there are.
  const auto many = enumerated(names(1000, std::string(256, 'x')));
  CATCH_CHECK(many.ends_with("x and 984 more"));
  CATCH_CHECK(many.size()
              == 16 * 256 + 15 * 2 + std::string{" and 984 more"}.size());
}
