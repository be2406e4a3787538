#include "actors/stages/services/gather_items.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace graphmill;

// `predict` writes classes where they say.
CATCH_TEST_CASE("damaged original ids are an error", "[actors][stages]") {
  const std::vector<node_id> ids{1, 2};
  for (const auto original :
       std::vector<node_id>{INT64_MIN, -1, 6, INT64_MAX}) {
    CATCH_INFO(original);
    const auto parts = test::cut(test::cycle(6), 1, {{0, 0, 0, 0, 0, 0}});
    const auto& part = *parts.shards[0];
    test::damage(part.nodes(0).original_ids, 2, original);
    std::vector<node_id> out(2);
    const auto refused = test::error_of(
      gather(part, {gather_kind::original_ids, 0, ids, {}, out.data()}, false));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(refused.message.find("original_ids.npy") != std::string::npos);
  }
}

CATCH_TEST_CASE("damaged degrees add up to no more than there can be",
                "[actors][stages]") {
  auto graph = test::cycle(6);
  graph.edges.push_back(graph.edges[0]);
  graph.edges[1].name = "again";
  const auto parts = test::cut(graph, 1, {{0, 0, 0, 0, 0, 0}});
  const auto& part = *parts.shards[0];
  test::damage(part.edges(0).in_degrees, 2, INT32_MAX);
  const std::vector<node_id> ids{1, 2};
  std::vector<std::int32_t> out(2);
  test::value_of(
    gather(part, {gather_kind::degrees, 0, ids, {}, out.data()}, false));
  CATCH_CHECK(out == std::vector<std::int32_t>{4, INT32_MAX});
}
