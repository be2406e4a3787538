#include "messages/work/work_report.hpp"
#include "tests/support/catch.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;

namespace {

stage_report stage(std::string name, std::uint64_t items) {
  stage_report out;
  out.stage = std::move(name);
  out.replicas = 1;
  out.items = items;
  out.bytes = 10 * items;
  out.busy_seconds = 0.5;
  out.cpu_seconds = 0.25;
  out.input_wait_seconds = 1.5;
  out.credit_wait_seconds = 2.5;
  out.restarts = 1;
  return out;
}

std::vector<std::string> names(const work_report& of) {
  std::vector<std::string> out;
  for (const auto& one : of.stages)
    out.push_back(one.stage);
  return out;
}

} // namespace

CATCH_TEST_CASE("reports of daemons add up, figure by figure",
                "[messages][report]") {
  work_report total;
  work_report report;
  report.stages = {stage("sampler", 3)};
  report.wire =
    wire_use{{1, 2}, {3, 4}, {5, 6}, 7, {8, 9}, {10, 11}, {12, 13}, {14, 15}};
  report.cache = cache_use{{1, 2}, {3, 4}, {5, 6}};
  report.checked = item_count{7, 8};
  report.peak_memory_bytes = 100;
  report.cpu_seconds = 1.5;
  total.add(report);
  report.disk = disk_use{stage("row reader", 9), 1, 2, 3, {4, 5}};
  total.add(report);
  total.add(report);
  CATCH_REQUIRE(total.stages.size() == 1);
  const auto& sum = total.stages[0];
  CATCH_CHECK(sum.stage == "sampler");
  CATCH_CHECK(sum.replicas == 3);
  CATCH_CHECK(sum.items == 9);
  CATCH_CHECK(sum.bytes == 90);
  CATCH_CHECK(sum.busy_seconds == 1.5);
  CATCH_CHECK(sum.cpu_seconds == 0.75);
  CATCH_CHECK(sum.input_wait_seconds == 4.5);
  CATCH_CHECK(sum.credit_wait_seconds == 7.5);
  CATCH_CHECK(sum.restarts == 3);
  CATCH_CHECK(total.wire->ids_asked.bytes == 6);
  CATCH_CHECK(total.wire->other_bytes == 21);
  CATCH_CHECK(total.wire->control_sent.items == 42);
  CATCH_CHECK(total.cache->found.bytes == 18);
  CATCH_CHECK(total.checked->items == 21);
  // Two of them had their parts on disk.
  CATCH_CHECK(total.disk->readers.stage == "row reader");
  CATCH_CHECK(total.disk->readers.items == 18);
  CATCH_CHECK(total.disk->rows_shared == 6);
  CATCH_CHECK(total.disk->reads.items == 8);
  CATCH_CHECK(total.peak_memory_bytes == 300);
  CATCH_CHECK(total.cpu_seconds == 4.5);
}

CATCH_TEST_CASE("stages are in pipeline order, whoever reports first",
                "[messages][report]") {
  work_report few;
  few.stages = {stage("sampler", 1), stage("fetcher", 1)};
  work_report more;
  more.stages = {stage("sampling service", 1), stage("sampler", 1),
                 stage("sampler proxy", 1), stage("fetcher", 1),
                 stage("trainer", 1)};
  auto merged = few;
  merged.add(more);
  CATCH_CHECK(names(merged) == names(more));
  CATCH_CHECK(merged.stages[3].items == 2);
  merged = more;
  merged.add(few);
  CATCH_CHECK(names(merged) == names(more));
  CATCH_CHECK(merged.stages[1].items == 2);
  merged.add({});
  CATCH_CHECK(names(merged) == names(more));
}
