#include "actors/stages/stage_table.hpp"

#include "tests/support/catch.hpp"

using namespace graphmill;

CATCH_TEST_CASE("a member that was never prepared has nothing to report",
                "[actors][stages]") {
  CATCH_CHECK(stage_table{}.reports().empty());
}

CATCH_TEST_CASE("a table reports its stages, and proxies if there are any",
                "[actors][stages]") {
  definition def;
  def.sampler = {.replicas = 2, .threads = 3};
  def.fetch = {.replicas = 1, .threads = 1};
  const auto reports = stage_table::of(def, 4, 1).reports();
  CATCH_REQUIRE(reports.size() == 7);
  CATCH_CHECK(reports[0].stage == "sampling service");
  CATCH_CHECK(reports[0].replicas == 12);
  CATCH_CHECK(stage_table::of(def, 4, 1, 0, 5).reports().size() == 8);
}
