#include "partition/importers/wordnet/hashed_words.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace graphmill;

namespace {

std::vector<float> row_of(std::string_view text, std::size_t width = 64) {
  std::vector<float> row(width, 9.0f);
  hashed_words words{row};
  words.add(text);
  return row;
}

} // namespace

CATCH_TEST_CASE("words are counted regardless of case and separators",
                "[importers]") {
  CATCH_CHECK(row_of("Take_a breath") == row_of("take A, breath!"));
  CATCH_CHECK(row_of("cafe") != row_of("caf\xc3\xa9"));
  CATCH_CHECK(row_of("") == std::vector<float>(64, 0.0f));
}

CATCH_TEST_CASE("the hash of words is part of the format", "[importers]") {
  // XXH3_64bits("dog") is 0x802c9dc0909e32b7; its highest bit makes it
  // negative.
  const auto row = row_of("dog dog");
  CATCH_CHECK(std::count(row.begin(), row.end(), 0.0f) == 63);
  CATCH_CHECK(row[0x802c9dc0909e32b7ull % 64] == -2.0f);
}

CATCH_TEST_CASE("rows are scaled to length one", "[importers]") {
  std::vector<float> row(2);
  hashed_words words{row};
  words.normalise();
  CATCH_CHECK(row == std::vector<float>{0.0f, 0.0f});
  words.add("one one one");
  words.normalise();
  CATCH_CHECK(std::max(std::abs(row[0]), std::abs(row[1])) == 1.0f);
}
