#include "actors/stages/stage_table.hpp"

#include "partition/disk/row_reader.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <string>
#include <vector>

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
  std::vector<std::string> names;
  for (const auto& report : reports)
    names.push_back(report.stage);
  CATCH_REQUIRE(names
                == std::vector<std::string>{
                  "sampling service", "sampler", "feature service", "fetcher",
                  "batcher", "trainer", "gradient group"});
  CATCH_CHECK(reports[0].replicas == 12);
  CATCH_CHECK(reports[1].replicas == 2);
  CATCH_CHECK(reports[4].replicas == 1);
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

CATCH_TEST_CASE("a member without trainers has services and samplers alone",
                "[actors][stages]") {
  definition def;
  def.sampler = {.replicas = 2, .threads = 3};
  def.fetch = {.replicas = 1, .threads = 1};
  const auto table = stage_table::of(def, 4, 0, 2, 0);
  const auto replicas = [&table](stage_kind which) {
    return table[which]->report().replicas;
  };
  CATCH_CHECK(replicas(stage_kind::sampler) == 2);
  CATCH_CHECK(replicas(stage_kind::feature_service) == 4);
  for (auto none :
       {stage_kind::batch_proxy, stage_kind::fetcher, stage_kind::batcher,
        stage_kind::trainer, stage_kind::gradient_group})
    CATCH_CHECK(replicas(none) == 0);
  CATCH_CHECK(table.report().stages.size() == 7);
}
