#include "partition/importers/keyed_split.hpp"

#include "tests/support/result.hpp"

#include <algorithm>
#include <set>

using namespace graphmill;

CATCH_TEST_CASE("a keyed split is exact and repeatable", "[importers]") {
  const auto got = keyed_split(1000, {0.1, 0.1, 0.8}, 7);
  std::set<node_id> seen;
  for (const auto& ids : got) {
    CATCH_CHECK(std::is_sorted(ids.begin(), ids.end()));
    seen.insert(ids.begin(), ids.end());
  }
  CATCH_CHECK(got[0].size() == 100);
  CATCH_CHECK(got[1].size() == 100);
  CATCH_CHECK(got[2].size() == 800);
  CATCH_CHECK(seen.size() == 1000);
  CATCH_CHECK(got == keyed_split(1000, {0.1, 0.1, 0.8}, 7));
  CATCH_CHECK(got != keyed_split(1000, {0.1, 0.1, 0.8}, 8));
}

CATCH_TEST_CASE("a keyed split may leave nodes out", "[importers]") {
  const auto got = keyed_split(10, {0.2, 0.0, 0.1}, 1);
  CATCH_CHECK(got[0].size() == 2);
  CATCH_CHECK(got[1].empty());
  CATCH_CHECK(got[2].size() == 1);
  CATCH_CHECK(keyed_split(0, {0.2, 0.0, 0.1}, 1)[0].empty());
}

CATCH_TEST_CASE("shares are checked", "[importers]") {
  CATCH_CHECK(validate(split_fractions{0.1, 0.1, 0.8}));
  CATCH_CHECK(!validate(split_fractions{0, 0.1, 0.8}));
  CATCH_CHECK(!validate(split_fractions{0.5, -0.1, 0.1}));
  CATCH_CHECK(!validate(split_fractions{0.5, 0.5, 0.1}));
  CATCH_CHECK(!validate(split_fractions{std::nan(""), 0.5, 0.1}));
}
