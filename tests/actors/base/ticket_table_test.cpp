#include "actors/base/ticket_table.hpp"

#include "tests/support/catch.hpp"

#include <memory>

using namespace graphmill;

CATCH_TEST_CASE("a ticket brings back what it was given for, once",
                "[actors][tickets]") {
  ticket_table<std::unique_ptr<int>> table;
  const auto first = table.add(std::make_unique<int>(1));
  const auto second = table.add(std::make_unique<int>(2));
  CATCH_CHECK(first == 1);
  CATCH_CHECK(second == 2);
  CATCH_REQUIRE(table.find(second) != nullptr);
  CATCH_CHECK(**table.find(second) == 2);
  CATCH_CHECK(table.size() == 2);
  const auto taken = table.take(first);
  CATCH_REQUIRE(taken);
  CATCH_CHECK(**taken == 1);
  CATCH_CHECK_FALSE(table.take(first));
  CATCH_CHECK(table.find(first) == nullptr);
  CATCH_CHECK(table.size() == 1);
}

CATCH_TEST_CASE("tickets are never given twice", "[actors][tickets]") {
  ticket_table<int> table;
  CATCH_CHECK_FALSE(table.take(0));
  CATCH_CHECK_FALSE(table.take(1));
  for (int i = 0; i < 3; ++i)
    table.add(i);
  CATCH_CHECK(table.take_all() == std::vector{0, 1, 2});
  CATCH_CHECK(table.size() == 0);
  CATCH_CHECK(table.add(3) == 4);
  CATCH_CHECK_FALSE(table.take(3));
}
