#include "partition/sampling/neighbour_lists.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/catch.hpp"

#include <string>

namespace graphmill::test::levels {

namespace {

/// Node 0 has two in-edges of level 0, one of level 1 and one of level 2; node
/// 1 has one of level 1.
memory_graph five_edges() {
  memory_graph graph;
  graph.nodes = {{"n", 6}};
  graph.edges = {{0, "to", 0, std::vector<std::vector<node_id>>(6)}};
  auto& type = graph.edges[0];
  type.in[0] = {1, 2, 3, 4};
  type.in[1] = {5};
  type.weights.resize(6);
  type.weights[0] = {1, 2, 4, 8};
  type.weights[1] = {16};
  type.levels.resize(6);
  type.levels[0] = {0, 0, 1, 2};
  type.levels[1] = {1};
  return graph;
}

std::vector<edge_id> seen_by(const cut_graph& graph, edge_level level) {
  const std::vector<node_id> nodes{0, 1};
  neighbour_request request{1, 1, 0, {-1}, true, nodes};
  request.level = level;
  neighbour_reply out;
  value_of(sample_neighbours(*graph.shards[0], request, out));
  return list(out.edge_ids);
}

} // namespace

CATCH_TEST_CASE("lists end before edges of higher levels",
                "[partition][sampling][levels]") {
  using ids = std::vector<edge_id>;
  const auto graph = whole(five_edges());
  CATCH_CHECK(seen_by(graph, 0) == ids{0, 1});
  CATCH_CHECK(seen_by(graph, 1) == ids{0, 1, 2, 4});
  CATCH_CHECK(seen_by(graph, all_levels) == ids{0, 1, 2, 3, 4});
  const auto weight = [&](node_id node, edge_level level) {
    return value_of(in_weight(*graph.shards[0], 0, node, {}, level));
  };
  CATCH_CHECK(weight(0, 0) == 3);
  CATCH_CHECK(weight(0, 1) == 7);
  CATCH_CHECK(weight(0, all_levels) == 15);
  CATCH_CHECK(weight(1, 0) == 0);
  CATCH_CHECK(weight(1, 1) == 16);
}

CATCH_TEST_CASE("sampling up to a level is sampling the graph without the rest",
                "[partition][sampling][levels]") {
  std::size_t hidden = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::test, 0, 0), 6};
    auto graph = random_graph(seed, {40, 12});
    if (seed % 2 == 0)
      graph = with_weights(std::move(graph), seed);
    graph = with_levels(std::move(graph), seed);
    const auto level = static_cast<edge_level>(seed % 3);
    const auto reduced = reduce(graph, level, seed % 4 == 0 ? 0 : 4, seed);
    auto scheme = random_scheme(graph, draws);
    const auto left = whole(reduced.seen.left);
    const auto expected = reduced.seen.renumbered(
      sample_plain(left, scheme, seed, random_typed_seeds(graph, left, seed)));
    scheme.level = level;
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      for (std::size_t to = 0; to < graph.edges[e].in.size(); ++to)
        hidden += graph.edges[e].in[to].size()
                  - reduced.seen.left.edges[e].in[to].size();
    for (const part_id parts : {1, 2, 5, 7}) {
      CATCH_INFO("parts " << parts);
      const auto cut_up = random_cut(graph, parts, seed, draws);
      auto seeds = random_typed_seeds(graph, cut_up, seed);
      seeds.excluded = reduced.excluded.excluded(graph, cut_up);
      CATCH_REQUIRE(sample_anyhow(cut_up, scheme, seed, seeds, draws)
                    == expected);
    }
  }
  CATCH_CHECK(hidden > 10'000);
}

CATCH_TEST_CASE("sums of weights up to a level are those of the reduced graph",
                "[partition][sampling][levels][weights]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph =
      with_levels(with_weights(random_graph(seed), seed), seed);
    const auto level = static_cast<edge_level>(seed % 3);
    const auto reduced = reduce(graph, level, 5, seed);
    check_in_weights(graph, seed, reduced.excluded, reduced.seen.left, level);
  }
}

CATCH_TEST_CASE("levels that make no sense are refused",
                "[partition][sampling][levels]") {
  const auto graph = whole(five_edges());
  const std::vector<node_id> nodes{0, 1};
  neighbour_request request{1, 1, 0, {-1}, true, nodes};
  neighbour_reply out;
  for (const edge_level level : {-1, 3}) {
    request.level = level;
    const auto refused =
      error_of(sample_neighbours(*graph.shards[0], request, out));
    CATCH_CHECK(refused.code == ec::invalid_argument);
    CATCH_CHECK(refused.message.find("no level") != std::string::npos);
  }
  // An edge that is held out is none of those that can be excluded.
  excluded_lists lists;
  lists.add(0, std::vector<edge_id>{2});
  request.level = 0;
  request.excluded = lists.view();
  CATCH_CHECK(
    error_of(sample_neighbours(*graph.shards[0], request, out)).message
    == "edge 2 is to be excluded from the 2 in-edges of node 0, and is none of "
       "them");
  // A file that is damaged.
  request.excluded = {};
  for (const std::int32_t seen : {-1, 5}) {
    damage(graph.shards[0]->edges(0).visible, 0, seen);
    const auto broken =
      error_of(sample_neighbours(*graph.shards[0], request, out));
    CATCH_CHECK(broken.code == ec::invalid_data);
    CATCH_CHECK(broken.message.find("visible.npy says that "
                                    + std::to_string(seen)
                                    + " of the 4 in-edges of node 0")
                == 0);
    CATCH_CHECK_FALSE(in_weight(*graph.shards[0], 0, 0, {}, 0));
  }
}

} // namespace graphmill::test::levels
