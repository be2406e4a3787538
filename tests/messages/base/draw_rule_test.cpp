#include "messages/base/draw_rule.hpp"

#include "tests/support/catch.hpp"

#include <vector>

using namespace graphmill;

namespace {

constexpr auto without = draw_kind::without_replacement;
constexpr auto with = draw_kind::with_replacement;
constexpr auto weighted = draw_kind::weighted_without_replacement;
constexpr auto weighted_with = draw_kind::weighted_with_replacement;

} // namespace

CATCH_TEST_CASE("a rule tells beforehand what a list gives",
                "[messages][draw_rule]") {
  const auto given = [](draw_rule rule) {
    std::vector<std::int64_t> out;
    for (std::int64_t degree : {0, 1, 3, 4, 1000})
      out.push_back(rule.sources_of(degree));
    return out;
  };
  using counts = std::vector<std::int64_t>;
  for (auto kind : {without, with}) {
    CATCH_CHECK(given({-1, kind}) == counts{0, 1, 3, 4, 1000});
    CATCH_CHECK(given({0, kind}) == counts{0, 0, 0, 0, 0});
  }
  CATCH_CHECK(given({3, without}) == counts{0, 1, 3, 3, 3});
  CATCH_CHECK(given({3, with}) == counts{0, 3, 3, 3, 3});
  for (auto kind : {weighted, draw_kind::labor})
    CATCH_CHECK(given({3, kind}) == given({3, without}));
  CATCH_CHECK(given({3, weighted_with}) == given({3, with}));
}

CATCH_TEST_CASE("a rule tells which lists are drawn from, and how",
                "[messages][draw_rule]") {
  CATCH_CHECK(draw_rule{-1, with}.takes_whole(1000));
  CATCH_CHECK(draw_rule{3, without}.takes_whole(3));
  CATCH_CHECK(!draw_rule{3, without}.takes_whole(4));
  CATCH_CHECK(draw_rule{3, with}.takes_whole(0));
  CATCH_CHECK(!draw_rule{3, with}.takes_whole(1));
  CATCH_CHECK(draw_rule{3, with}.may_repeat());
  CATCH_CHECK(!draw_rule{-1, with}.may_repeat());
  CATCH_CHECK(!draw_rule{3, without}.may_repeat());
}

CATCH_TEST_CASE("kinds by weights are uniform where there are none",
                "[messages][draw_rule]") {
  CATCH_CHECK(without_weights(weighted) == without);
  CATCH_CHECK(without_weights(weighted_with) == with);
  CATCH_CHECK(without_weights(draw_kind::labor) == draw_kind::labor);
  for (auto kind : {weighted, weighted_with, draw_kind::labor})
    CATCH_CHECK(reads_lists(kind));
  CATCH_CHECK(!reads_lists(without));
  CATCH_CHECK(!reads_lists(with));
}

CATCH_TEST_CASE("a rule tells how likely an in-edge is taken",
                "[messages][draw_rule]") {
  for (auto kind : {without, with}) {
    CATCH_CHECK(draw_rule{-1, kind}.chance(7) == 1);
    CATCH_CHECK(draw_rule{0, kind}.chance(7) == 0);
    CATCH_CHECK(draw_rule{1, kind}.chance(4) == 0.25);
  }
  CATCH_CHECK(draw_rule{3, without}.chance(2) == 1);
  CATCH_CHECK(draw_rule{3, without}.chance(4) == 0.75);
  CATCH_CHECK(draw_rule{2, with}.chance(2) == 0.75); // Two miss it with 1/4.
}

CATCH_TEST_CASE("a fanout below -1 is refused", "[messages][draw_rule]") {
  CATCH_CHECK(draw_rule{-1, with}.check());
  CATCH_CHECK(draw_rule{0, without}.check());
  const auto refused = draw_rule{-2, with}.check();
  CATCH_REQUIRE(!refused);
  CATCH_CHECK(refused.error().code == ec::invalid_argument);
}
