#include "messages/base/random.hpp"
#include "partition/disk/disk_sampling.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "tests/partition/sampling/support.hpp"

#include <string>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A list of eight in-edges of node 0, from nodes 1 to 8, and one of node 1.
memory_graph star() {
  memory_graph graph;
  graph.nodes = {{"n", 10}};
  graph.edges = {{0, "to", 0, std::vector<std::vector<node_id>>(10)}};
  graph.edges[0].in[0] = {1, 2, 3, 4, 5, 6, 7, 8};
  graph.edges[0].in[1] = {9};
  return graph;
}

/// What is said about a request for the in-edges of nodes 0 and 1.
std::string refusal(const std::vector<std::int64_t>& at,
                    const std::vector<std::int64_t>& begins,
                    const std::vector<edge_id>& edges, bool from_disk = false) {
  const auto graph = whole(star());
  const std::vector<node_id> nodes{0, 1};
  neighbour_request request{1, 1, 0, {3}, false, nodes};
  request.excluded = {at, begins, edges};
  neighbour_reply out;
  const auto done = from_disk
                      ? sample_from_disk(*graph.shards[0], request, out)
                      : sample_neighbours(*graph.shards[0], request, out);
  if (done)
    return "";
  CATCH_CHECK(done.error().code == ec::invalid_argument);
  return done.error().message;
}

} // namespace

CATCH_TEST_CASE(
  "sampling without some edges is sampling the graph without them",
  "[partition][sampling][exclusion]") {
  std::size_t edges = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::test, 0, 0), 4};
    auto graph = random_graph(seed, {40, 12});
    if (seed % 2 == 0)
      graph = with_weights(std::move(graph), seed);
    const auto scheme = random_scheme(graph, draws);
    const auto thinned = thin_out(graph, seed);
    edges += thinned.count();
    const auto left = whole(thinned.left);
    const auto expected = thinned.renumbered(
      sample_plain(left, scheme, seed, random_typed_seeds(graph, left, seed)));
    for (part_id parts = 1; parts <= 7; ++parts) {
      CATCH_INFO("parts " << parts);
      const auto cut_up = random_cut(graph, parts, seed, draws);
      auto seeds = random_typed_seeds(graph, cut_up, seed);
      seeds.excluded = thinned.excluded(graph, cut_up);
      CATCH_REQUIRE(sample_anyhow(cut_up, scheme, seed, seeds, draws)
                    == expected);
    }
  }
  CATCH_CHECK(edges > 3000);
}

CATCH_TEST_CASE("sums of weights are those of the graph without the edges",
                "[partition][sampling][exclusion][weights]") {
  std::size_t lost = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_weights(random_graph(seed), seed);
    const auto thinned = thin_out(graph, seed);
    lost += thinned.count();
    check_in_weights(graph, seed, thinned, thinned.left);
  }
  CATCH_CHECK(lost > 1000);
}

CATCH_TEST_CASE("edges to exclude that make no sense are refused",
                "[partition][sampling][exclusion]") {
  using names = std::string;
  const auto says = [](const names& text, const names& part) {
    return text.find(part) != names::npos;
  };
  for (const auto disk : {false, true}) {
    CATCH_CHECK(refusal({0, 1}, {0, 2, 3}, {0, 7, 8}, disk).empty());
    // Of another list, of none.
    CATCH_CHECK(
      refusal({0}, {0, 1}, {8}, disk)
      == "edge 8 is to be excluded from the 8 in-edges of node 0, and "
         "is none of them");
    CATCH_CHECK(
      refusal({1}, {0, 2}, {7, 8}, disk)
      == "edge 7 is to be excluded from the 1 in-edges of node 1, and "
         "is none of them");
    CATCH_CHECK(says(refusal({0}, {0, 1}, {-1}, disk), "edge -1 is"));
    CATCH_CHECK(says(refusal({0}, {0, 1}, {std::int64_t{1} << 40}, disk),
                     "none of them"));
    // Twice, or not ascending.
    CATCH_CHECK(says(refusal({0}, {0, 2}, {3, 3}, disk), "do not ascend"));
    CATCH_CHECK(says(refusal({0}, {0, 2}, {4, 3}, disk), "do not ascend"));
    CATCH_CHECK(says(refusal({0}, {0, 0}, {3}, disk), "there are none"));
    // Lists that there are not, twice, or in no order.
    CATCH_CHECK(says(refusal({2}, {0, 1}, {3}, disk), "list 2 of 2"));
    CATCH_CHECK(says(refusal({-1}, {0, 1}, {3}, disk), "list -1 of 2"));
    CATCH_CHECK(says(refusal({0, 0}, {0, 1, 2}, {3, 4}, disk), "list 0 of 2"));
    CATCH_CHECK(says(refusal({1, 0}, {0, 1, 2}, {8, 3}, disk), "list 0 of 2"));
    // Counts of other lists.
    CATCH_CHECK(says(refusal({0}, {0, 2}, {3}, disk), "counts of these edges"));
    CATCH_CHECK(says(refusal({0}, {0}, {3}, disk), "counts of these edges"));
    CATCH_CHECK(says(refusal({0}, {-1, 0}, {3}, disk), "counts of these"));
    CATCH_CHECK(
      says(refusal({0, 1}, {0, 2, 1}, {3, 4}, disk), "counts of these"));
  }
  const auto graph = whole(star());
  batch_sampler sampler{*graph.graph, scheme_of(star(), {2}), 7, nullptr};
  auto seeds = target_seeds(graph.graph->info(), std::vector<node_id>{0});
  seeds.excluded.resize(2);
  CATCH_CHECK(
    error_of(sampler.start(seeds)).message
    == "edges of 2 types are to be excluded, but \"memory\" has 1 edge "
       "types");
}

CATCH_TEST_CASE("lists without edges", "[partition][sampling][exclusion]") {
  const auto graph = whole(star());
  const std::vector<node_id> nodes{0, 1};
  const auto left = [&](const std::vector<edge_id>& of_first,
                        std::int32_t fanout) {
    excluded_lists lists;
    if (!of_first.empty())
      lists.add(0, of_first);
    neighbour_request request{1, 1, 0, {fanout}, true, nodes};
    request.excluded = lists.view();
    neighbour_reply out;
    value_of(sample_neighbours(*graph.shards[0], request, out));
    return list(out.edge_ids);
  };
  using ids = std::vector<edge_id>;
  CATCH_CHECK(left({}, -1) == ids{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CATCH_CHECK(left({0}, -1) == ids{1, 2, 3, 4, 5, 6, 7, 8});
  CATCH_CHECK(left({7}, -1) == ids{0, 1, 2, 3, 4, 5, 6, 8});
  CATCH_CHECK(left({0, 1, 4, 7}, -1) == ids{2, 3, 5, 6, 8});
  CATCH_CHECK(left({2, 3}, 6) == ids{0, 1, 4, 5, 6, 7, 8});
  CATCH_CHECK(left({0, 1, 2, 3, 4, 5, 6, 7}, 3) == ids{8});
}

CATCH_TEST_CASE("edges to exclude are put in order",
                "[partition][sampling][exclusion]") {
  const auto made =
    excluded_edges::of({{5, 9}, {2, 4}, {5, 1}, {5, 9}, {7, 0}});
  CATCH_CHECK(made.destinations == std::vector<node_id>{2, 5, 7});
  CATCH_CHECK(made.begins == std::vector<std::int64_t>{0, 1, 3, 4});
  CATCH_CHECK(made.edges == std::vector<edge_id>{4, 1, 9, 0});
  CATCH_CHECK(excluded_edges::of({}) == excluded_edges{});
}
