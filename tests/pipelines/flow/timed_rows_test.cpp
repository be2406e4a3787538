#include "messages/base/random.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

namespace graphmill::test::timed_rows {

namespace {

namespace fs = std::filesystem;
using times = std::vector<std::int64_t>;

constexpr auto none = static_cast<std::size_t>(-1);

/// Users that appear one by one and know earlier ones.
/// @param early An edge that is older than all nodes.
void write_users(const fs::path& folder, std::size_t early = none) {
  fs::create_directory(folder);
  dataset_info info;
  info.name = "users";
  info.node_types = {{.name = "user", .count = 30, .timed = true}};
  info.edge_types = {
    {.source = 0, .name = "knows", .destination = 0, .timed = true}};
  info.tasks = {
    {.name = "links", .edge_types = {0}, .reverse_types = {std::nullopt}}};
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  random_stream draws{8, 0};
  std::vector<node_id> from;
  std::vector<node_id> to;
  times when;
  times born;
  for (std::int64_t user = 0; user < 30; ++user)
    born.push_back(10 * ((7 * user) % 30));
  for (std::int64_t i = 0; i < 200; ++i) {
    from.push_back(draws.below(30));
    to.push_back(draws.below(30));
    when.push_back(1
                   + std::max({born[static_cast<std::size_t>(from.back())],
                               born[static_cast<std::size_t>(to.back())],
                               std::int64_t{draws.below(300)}}));
  }
  if (early != none)
    when[early] = 0;
  value_of(writer.set_times(0, born));
  value_of(writer.append_edges(0, from, to));
  value_of(writer.append_edge_times(0, when));
  value_of(writer.set_task(
    0, {.choose = [](std::span<const task_edge> edges) -> result<task_rows> {
      task_rows out;
      for (std::size_t i = 0; i < edges.size(); ++i)
        out[i % 4 == 3 ? 2 : 0].push_back(i);
      return out;
    }}));
  value_of(writer.finish());
}

std::shared_ptr<const partitioned_graph> open(const fs::path& folder) {
  return std::make_shared<const partitioned_graph>(
    value_of(value_of(partitioned_graph::open(folder)).with_task("links")));
}

definition timed_links() {
  definition out;
  out.seed = 4;
  out.task = "links";
  out.negatives.count = 6;
  out.negatives.corrupt = corrupted_end::both;
  out.evaluate.negatives = 9;
  out.sampler.time = time_use::strict;
  return out;
}

} // namespace

CATCH_TEST_CASE("the seeds of a step have the time of its earliest row",
                "[flow][seed_batch][times]") {
  const std::vector<node_id> ids{0, 1, 2, 3};
  const times when{30, 10, 20, 40};
  seed_table table{{{0, ids}}};
  table.times = when;
  using ranks = std::vector<std::vector<seed_row>>;
  CATCH_CHECK(earliest_of(table, ranks{{0, 2}, {3}}) == times{20});
  CATCH_CHECK(earliest_of(table, ranks{{}, {3}}) == times{40});
  CATCH_CHECK(earliest_of(table, ranks{{}, {}}).empty());
}

CATCH_TEST_CASE("rows that are apart have nodes and times of their own",
                "[flow][seed_batch][times]") {
  dataset_info info;
  info.node_types.resize(2);
  info.node_types[0].count = 9;
  info.node_types[1].count = 5;
  const std::vector<node_id> users{4, 4, 0};
  const std::vector<node_id> items{4, 2, 4};
  const times when{30, 10, 20};
  seed_table table{{{0, users}, {1, items}}};
  table.times = when;
  negative_lists wrong{1, 1};
  // Items 2 and 4, then users 4 and 8, of rows 2 and 0.
  wrong.nodes = {4, 8, 2, 4};
  table.edges.emplace();
  const auto batch =
    batch_of(table, std::vector<seed_row>{2, 0}, info, wrong, true);
  CATCH_CHECK(batch.nodes
              == std::vector<std::vector<node_id>>{{0, 8, 4}, {4, 4, 2}});
  CATCH_CHECK(batch.trees
              == std::vector<std::vector<std::int32_t>>{{0, 0, 1}, {0, 1, 1}});
  CATCH_CHECK(batch.locals == std::vector<local_id>{0, 0, 0, 1, 2, 1, 2, 2});
  CATCH_CHECK(batch.row_numbers == times{2, 0});
  CATCH_CHECK(batch.until == times{20, 30});

  const std::vector<node_id> ids{5, 7, 8};
  seed_table nodes{{{0, ids}}};
  nodes.times = when;
  const auto single =
    batch_of(nodes, std::vector<seed_row>{1, 2}, info, {}, true);
  CATCH_CHECK(single.nodes == std::vector<std::vector<node_id>>{{7, 8}, {}});
  CATCH_CHECK(single.trees
              == std::vector<std::vector<std::int32_t>>{{0, 1}, {}});
  CATCH_CHECK(single.until == times{10, 20});
}

CATCH_TEST_CASE("seeds keep their order unless they are shuffled",
                "[flow][epoch_plan][times]") {
  epoch_plan_options options{4, 1, seed_order::global, {}};
  options.shuffle = false;
  const epoch_plan plan{6, options, 1, phase::train, 3};
  CATCH_CHECK(plan.seeds(0, 0) == std::vector<seed_row>{0, 1, 2, 3});
  CATCH_CHECK(plan.seeds(1, 0) == std::vector<seed_row>{4, 5});
  definition def;
  CATCH_CHECK(plan_options(def, nullptr, nullptr, 1, phase::train).shuffle);
  def.train.shuffle = false;
  CATCH_CHECK_FALSE(
    plan_options(def, nullptr, nullptr, 1, phase::train).shuffle);
}

CATCH_TEST_CASE("negatives of a row are older than it, for any parts",
                "[flow][negatives][times]") {
  temp_folder folder;
  write_users(folder / "whole");
  const auto data = value_of(dataset::open(folder / "whole"));
  value_of(prepare_partitions(data, {.parts = 3}, folder / "parts"));
  const auto inclusive = GENERATE(false, true);
  auto def = timed_links();
  def.sampler.time = inclusive ? time_use::inclusive : time_use::strict;
  for (const auto which : {phase::train, phase::test}) {
    std::vector<node_id> expected;
    for (const auto* name : {"whole", "parts"}) {
      const auto graph = open(folder / name);
      const auto made = value_of(link_negatives::make(graph, def));
      const auto table =
        table_of(graph, which == phase::train ? split::train : split::test);
      CATCH_REQUIRE(std::ssize(table->times) == table->rows());
      std::vector<seed_row> rows;
      for (seed_row row = 0; row < table->rows(); ++row)
        rows.push_back(row);
      const auto lists = made->of(*table, rows, which, 1, 0);
      const auto born = graph->node_times(0);
      const auto order = value_of(graph->order(0));
      std::vector<node_id> originals;
      std::set<std::int64_t> seen;
      for (std::size_t i = 0; i < lists.nodes.size(); ++i) {
        const auto node = lists.nodes[i];
        const auto time = table->times[i / lists.of_each()];
        originals.push_back(
          node < 0 ? node : std::ranges::find(order, node) - order.begin());
        if (node < 0) {
          CATCH_REQUIRE(which == phase::test);
          continue;
        }
        const auto own = born[static_cast<std::size_t>(node)];
        CATCH_REQUIRE((inclusive ? own <= time : own < time));
        seen.insert(node);
      }
      CATCH_CHECK(seen.size() > 20);
      if (expected.empty())
        expected = originals;
      CATCH_CHECK(originals == expected);
    }
  }
}

CATCH_TEST_CASE("a row that is older than all nodes has no negatives",
                "[flow][negatives][times]") {
  // Of the test it would be ranked among nobody.
  for (const auto& [early, split] :
       {std::pair{std::size_t{0}, "training"}, {std::size_t{3}, "test"}}) {
    temp_folder folder;
    write_users(folder / "whole", early);
    const auto graph = open(folder / "whole");
    const auto made = link_negatives::make(graph, timed_links());
    CATCH_REQUIRE_FALSE(made);
    CATCH_CHECK_THAT(made.error().message,
                     contains("no node of type \"user\" is older"));
    CATCH_CHECK_THAT(made.error().message, contains(split));
  }
}

CATCH_TEST_CASE("rows that share a step are in the order of time",
                "[flow][seed_table][times]") {
  const std::vector<node_id> ids{0, 1, 2};
  seed_table table{{{0, ids}}};
  value_of(check_order_of_time(table, "rows", 2));
  const times equal{10, 20, 20};
  table.times = equal;
  value_of(check_order_of_time(table, "rows", 2));
  const times descending{10, 30, 20};
  table.times = descending;
  value_of(check_order_of_time(table, "rows", 1));
  const auto done = check_order_of_time(table, "test rows of `x`", 2);
  CATCH_REQUIRE_FALSE(done);
  CATCH_CHECK_THAT(done.error().message,
                   contains("test rows of `x` are not in the order of time: "
                            "row 1 is of time 30, and the next one of 20"));
}

} // namespace graphmill::test::timed_rows
