#include "messages/words/number_text.hpp"
#include "tests/support/catch.hpp"

#include <cstdint>

using namespace graphmill;

CATCH_TEST_CASE("a number is all of a text", "[messages][words]") {
  CATCH_CHECK(number_from<std::int64_t>("-12") == -12);
  CATCH_CHECK(number_from<std::uint8_t>("255") == 255);
  CATCH_CHECK(number_from<double>("2.5e3") == 2500);
  for (const auto* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "a", "1a", "-"})
    CATCH_CHECK_FALSE(number_from<std::int64_t>(text));
  CATCH_CHECK_FALSE(number_from<std::uint8_t>("256"));
  CATCH_CHECK_FALSE(number_from<std::uint64_t>("-1"));
  CATCH_CHECK_FALSE(number_from<double>("1e999"));
  CATCH_CHECK_FALSE(number_from<double>("1,5"));
}
