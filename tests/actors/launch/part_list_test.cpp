#include "actors/launch/part_list.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <set>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("lists of parts are read and written", "[part_list]") {
  using parts = std::vector<part_id>;
  CATCH_CHECK(value_of(parse_parts("0")) == parts{0});
  CATCH_CHECK(value_of(parse_parts("0,2-4")) == parts{0, 2, 3, 4});
  CATCH_CHECK(value_of(parse_parts("7,3-5,4,3")) == parts{3, 4, 5, 7});
  CATCH_CHECK(value_of(parse_parts("none")).empty());
  CATCH_CHECK(value_of(parse_served_parts("0,2")) == parts{0, 2});
  CATCH_CHECK(value_of(parse_served_parts("none")) == parts{});
  CATCH_CHECK_FALSE(value_of(parse_served_parts("any")).has_value());
  CATCH_CHECK(to_part_text({}).empty());
  CATCH_CHECK(to_part_text(parts{0, 2, 3, 4}) == "0,2-4");
  CATCH_CHECK(to_part_text(parts{0, 1, 3}) == "0,1,3");
  for (const auto* text : {"", ",", "1,", "a", "-1", "1-", "3-1", "0-99999999",
                           "1 ", "1-2-3", "0,any", "99999999999999999999"}) {
    CATCH_INFO(text);
    CATCH_CHECK(error_of(parse_parts(text)).code == ec::invalid_argument);
    CATCH_CHECK(error_of(parse_served_parts(text)).code
                == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("parts are dealt out in turn", "[part_list]") {
  for (part_id parts = 1; parts < 12; ++parts)
    for (std::uint32_t daemons = 1; daemons < 12; ++daemons) {
      CATCH_INFO(parts << " parts, " << daemons << " daemons");
      std::set<part_id> served;
      for (std::uint32_t i = 0; i < daemons; ++i) {
        const auto mine = deal_parts(parts, i, daemons);
        CATCH_CHECK(!mine.empty());
        CATCH_CHECK(std::ranges::is_sorted(mine));
        CATCH_CHECK(value_of(parse_parts(to_part_text(mine))) == mine);
        served.insert(mine.begin(), mine.end());
      }
      CATCH_CHECK(served.size() == static_cast<std::size_t>(parts));
      CATCH_CHECK(*served.rbegin() == parts - 1);
    }
  CATCH_CHECK(deal_parts(8, 1, 3) == std::vector<part_id>{1, 4, 7});
}
