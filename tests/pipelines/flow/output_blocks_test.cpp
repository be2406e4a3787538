#include "partition/dataset/chosen_task.hpp"
#include "pipelines/flow/output_blocks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <set>
#include <utility>

namespace graphmill::test {

namespace {

/// Users who buy items and know users, items of shops, and shops in streets,
/// of which there are none.
dataset_info market() {
  dataset_info info;
  info.name = "market";
  info.node_types = {{.name = "user", .count = 5},
                     {.name = "item", .count = 3},
                     {.name = "shop", .count = 4},
                     {.name = "street", .count = 0}};
  info.edge_types = {{.source = 0, .name = "buys", .destination = 1},
                     {.source = 0, .name = "knows", .destination = 0},
                     {.source = 1, .name = "of", .destination = 2},
                     {.source = 2, .name = "in", .destination = 3}};
  info.tasks = {{.name = "all", .edge_types = {0, 1, 2, 3}},
                {.name = "friends", .edge_types = {1}}};
  return info;
}

} // namespace

CATCH_TEST_CASE("blocks of outputs have each node at an end of a task",
                "[flow][predictions]") {
  const auto info = value_of(choose_task(market(), "all"));
  const auto blocks = output_blocks(info);
  // Users and items by purchases; users do so without a row of their own.
  CATCH_CHECK(
    blocks
    == std::vector<output_block>{
      {.relation = 0, .types = {0, 1}, .counts = {5, 3}, .first = 0},
      {.relation = 2, .types = {1, 2}, .counts = {0, 4}, .first = 5}});
  CATCH_CHECK(rows_of(blocks) == 9);
  const auto edges = edges_of(blocks);
  CATCH_REQUIRE(edges.size() == 9);
  std::set<std::pair<node_type_id, node_id>> met;
  for (const auto& edge : edges) {
    const auto& ends = info.edge_types[static_cast<std::size_t>(
      chosen_task(info)->edge_types[static_cast<std::size_t>(edge.relation)])];
    met.emplace(ends.source, edge.source);
    met.emplace(ends.destination, edge.destination);
  }
  CATCH_CHECK(met.size() == 5 + 3 + 4);
  for (const auto& [type, node] : met)
    CATCH_CHECK(node < info.node_types[static_cast<std::size_t>(type)].count);
}

CATCH_TEST_CASE("nodes of one type come in pairs", "[flow][predictions]") {
  const auto info = value_of(choose_task(market(), "friends"));
  const auto blocks = output_blocks(info);
  CATCH_REQUIRE(blocks.size() == 1);
  CATCH_CHECK(rows_of(blocks) == 3);
  std::vector<std::pair<node_id, node_id>> pairs;
  for (const auto& edge : edges_of(blocks))
    pairs.emplace_back(edge.source, edge.destination);
  CATCH_CHECK(
    pairs == std::vector<std::pair<node_id, node_id>>{{0, 1}, {2, 3}, {4, 4}});
}

} // namespace graphmill::test
