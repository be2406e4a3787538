#include "pipelines/planning/cache_report.hpp"

#include "messages/base/random.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::int64_t users = 200;

/// Users who know each other, in two parts: edges are learnt.
struct cut_users {
  temp_folder folder;
  std::shared_ptr<const partitioned_graph> graph;

  cut_users() {
    const auto whole = folder / "whole";
    const auto parts = folder / "parts";
    std::filesystem::create_directory(whole);
    dataset_info info;
    info.name = "users";
    info.node_types = {{.name = "user", .count = users, .feature_width = 2}};
    info.edge_types = {{.source = 0, .name = "knows", .destination = 0}};
    info.tasks = {
      {.name = "links", .edge_types = {0}, .reverse_types = {std::nullopt}}};
    auto writer = value_of(dataset_writer::create(whole, info, {}));
    random_stream draws{5, 0};
    std::vector<node_id> from;
    std::vector<node_id> to;
    for (int i = 0; i < 400; ++i) {
      from.push_back(draws.below(users));
      to.push_back(draws.below(users));
    }
    value_of(writer.append_edges(0, from, to));
    value_of(writer.append_features(0, std::vector<float>(2 * users, 1.0F)));
    value_of(writer.set_task(
      0, {.choose = [](std::span<const task_edge> edges) -> result<task_rows> {
        task_rows out;
        for (std::size_t i = 0; i < edges.size(); ++i)
          out[0].push_back(i);
        return out;
      }}));
    value_of(writer.finish());
    value_of(prepare_partitions(
      value_of(dataset::open(whole)),
      {.parts = 2, .method = partition_method::random, .seed = 3}, parts));
    graph = std::make_shared<const partitioned_graph>(
      value_of(value_of(partitioned_graph::open(parts)).with_task("links")));
  }

  cache_report counted(const std::string& exclude) const {
    const auto source = parse_definition(
      fmt::format("{{dataset: users, task: links, sampler: {{fanouts: [-1]}}, "
                  "train: {{batch_size: 32, exclude: {}}}, trainer: "
                  "{{replicas: 2}}}}",
                  exclude),
      "x.yaml");
    CATCH_REQUIRE(source.problems.empty());
    return value_of(count_remote_rows(source.value, graph));
  }
};

} // namespace

CATCH_TEST_CASE("rows are counted of batches as training makes them",
                "[planning][cache]") {
  const cut_users of;
  const auto pair = of.counted("pair");
  const auto none = of.counted("none");
  CATCH_CHECK(pair.trainers == 2);
  CATCH_CHECK(pair.steps == 13);
  CATCH_CHECK(none.steps == 13);
  // Links that see themselves, and those of the other trainer, reach more.
  CATCH_CHECK(none.sizes[0].vip > pair.sizes[0].vip);
  for (const auto& counted : {pair, none})
    for (const auto& size : counted.sizes) {
      CATCH_CHECK(size.least <= size.vip);
      CATCH_CHECK(size.least <= size.degree);
    }
  CATCH_CHECK(pair.sizes.back().least < pair.sizes[0].least);
}
