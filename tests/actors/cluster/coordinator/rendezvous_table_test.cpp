#include "actors/cluster/coordinator/runs/rendezvous_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("values are set, replaced and found", "[cluster]") {
  rendezvous_table table;
  CATCH_CHECK(table.find("a") == nullptr);
  value_of(table.set("a", "1"));
  value_of(table.set("b", std::string("\0x", 2)));
  value_of(table.set("a", "22"));
  CATCH_CHECK(*table.find("a") == "22");
  CATCH_CHECK(table.find("b")->size() == 2);
}

CATCH_TEST_CASE("a rendezvous takes so much and no more", "[cluster]") {
  using table_type = rendezvous_table;
  table_type table;
  const std::string large(table_type::largest_value, 'v');
  CATCH_CHECK(
    error_of(table.set(std::string(table_type::longest_key + 1, 'k'), "v")).code
    == ec::invalid_argument);
  CATCH_CHECK(error_of(table.set("k", large + "v")).code
              == ec::invalid_argument);
  CATCH_CHECK(table.byte_size() == 0);

  // The 600 values of 1 MB that once filled a coordinator come to nothing;
  // those that are allowed one by one are bounded together.
  auto taken = 0;
  while (taken < 10000 && table.set(std::to_string(taken), large))
    ++taken;
  CATCH_CHECK(taken == 255);
  CATCH_CHECK(table.byte_size() <= table_type::most_bytes);
  CATCH_CHECK(table.byte_size() > table_type::most_bytes - large.size() - 200);
  const auto refused = error_of(table.set("more", large));
  CATCH_CHECK(refused.message.find("rendezvous of this run holds")
              != std::string::npos);
  // What is there can be replaced, also by less.
  value_of(table.set("0", large));
  value_of(table.set("0", ""));
  value_of(table.set("more", large));

  // Small ones cost more than their bytes.
  table_type small;
  taken = 0;
  while (taken < 1'000'000 && small.set(std::to_string(taken), {}))
    ++taken;
  CATCH_CHECK(taken < 130'000);
}
