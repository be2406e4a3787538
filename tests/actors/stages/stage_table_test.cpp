#include "actors/stages/stage_table.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

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
  CATCH_CHECK(stage_table::of(def, 4, 1, 0, 5).reports().size() == 8);
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
  CATCH_CHECK(table.reports().size() == 7);
}
