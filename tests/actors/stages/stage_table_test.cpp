#include "actors/stages/stage_table.hpp"

#include "partition/disk/row_reader.hpp"
#include "tests/support/catch.hpp"

#include <memory>

using namespace graphmill;

CATCH_TEST_CASE("a member that was never prepared has nothing to report",
                "[actors][stages]") {
  CATCH_CHECK(stage_table{}.report().stages.empty());
  CATCH_CHECK_FALSE(stage_table{}.report().disk.has_value());
}

CATCH_TEST_CASE("a table reports its stages, and proxies if there are any",
                "[actors][stages]") {
  definition def;
  def.sampler = {.replicas = 2, .threads = 3};
  def.fetch = {.replicas = 1, .threads = 1};
  const auto reports = stage_table::of(def, 4, 1).report().stages;
  CATCH_REQUIRE(reports.size() == 7);
  CATCH_CHECK(reports[0].stage == "sampling service");
  CATCH_CHECK(reports[0].replicas == 12);
  CATCH_CHECK(stage_table::of(def, 4, 1, 0, 5).report().stages.size() == 8);
}

CATCH_TEST_CASE("a table reports what came from disk", "[actors][stages]") {
  stage_table table;
  table.disk = std::make_shared<disk_counters>();
  table.disk->readers = 2;
  table.disk->wanted = 40;
  table.disk->found = 20;
  table.disk->shared = 5;
  table.disk->rows = 15;
  table.disk->reads = 7;
  table.disk->bytes = 4096;
  table.disk->busy_ns = 1'500'000'000;
  const auto disk = table.report().disk;
  CATCH_REQUIRE(disk.has_value());
  CATCH_CHECK(disk->readers.stage == "row reader");
  CATCH_CHECK(disk->readers.replicas == 2);
  CATCH_CHECK(disk->readers.items == 15);
  CATCH_CHECK(disk->readers.bytes == 4096);
  CATCH_CHECK(disk->readers.busy_seconds == 1.5);
  CATCH_CHECK(disk->rows_wanted == 40);
  CATCH_CHECK(disk->rows_found == 20);
  CATCH_CHECK(disk->rows_shared == 5);
  CATCH_CHECK(disk->reads.items == 7);
  CATCH_CHECK(disk->reads.bytes == 4096);
}
