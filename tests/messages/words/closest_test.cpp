#include "messages/words/closest.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("the nearest word is found, if one is near", "[closest]") {
  const std::vector<std::string> words{"paper", "author", "fan-outs", "a"};
  CATCH_CHECK(closest("papr", words) == "paper");
  CATCH_CHECK(closest("PAPER", words) == "paper");
  CATCH_CHECK(closest("auhtor", words) == "author"); // One transposition.
  CATCH_CHECK(closest("fan_outs", words) == "fan-outs");
  CATCH_CHECK(closest("venue", words).empty());
  CATCH_CHECK(closest(std::string(201, 'a'), words).empty());
  CATCH_CHECK(closest("paper", {}).empty());
}
