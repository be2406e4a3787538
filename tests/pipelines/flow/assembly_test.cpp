#include "pipelines/flow/assembly.hpp"

#include "messages/base/random.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using counts = std::vector<std::int64_t>;
using locals = std::vector<local_id>;
using pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

fetched_batch sampled(const cut_graph& graph, const sampling_scheme& scheme,
                      const std::vector<node_id>& seeds) {
  fetched_batch out;
  out.graph = value_of(sample(*graph.graph, graph.shards, scheme, 7, seeds));
  return out;
}

/// (destination, source) of the first rows, in order.
pairs edges_of(const csr& forward, std::int64_t rows) {
  pairs out;
  for (std::int64_t row = 0; row < rows; ++row)
    for (auto i = forward.indptr[row]; i < forward.indptr[row + 1]; ++i)
      out.emplace_back(row, forward.columns[i]);
  return out;
}

} // namespace

CATCH_TEST_CASE("assembly of the cycle of six", "[pipelines][assembly]") {
  const auto graph = whole(cycle(6));
  const auto pool = buffer_pool::make(1 << 20);
  for (auto merged : {true, false}) {
    const auto batch =
      value_of(assemble(sampled(graph, scheme_of(cycle(6), {-1, -1}), {2, 3}),
                        {merged, false, true}, graph.graph->info(), pool));
    CATCH_REQUIRE(batch.relations.size() == 1);
    const auto& relation = batch.relations[0];
    // Rows 2, 3, 1, 4 of nodes 2, 3, 1, 4, 0, 5.
    CATCH_CHECK(list(relation.forward.indptr) == counts{0, 2, 4, 6, 8});
    CATCH_CHECK(list(relation.forward.columns)
                == locals{2, 1, 0, 3, 4, 0, 1, 5});
    CATCH_REQUIRE(relation.transposed.size() == 2);
    CATCH_CHECK(list(relation.transposed[0].indptr)
                == counts{0, 2, 4, 5, 6, 7, 8});
    CATCH_CHECK(list(relation.transposed[0].columns)
                == locals{1, 2, 0, 3, 0, 1, 2, 3});
    CATCH_CHECK(list(relation.transposed[1].indptr) == counts{0, 1, 2, 3, 4});
    CATCH_CHECK(list(relation.transposed[1].columns) == locals{1, 0, 0, 1});
  }
}

CATCH_TEST_CASE("layer 1 is transposed if asked for", "[pipelines][assembly]") {
  const auto graph = whole(cycle(6));
  const auto batch =
    value_of(assemble(sampled(graph, scheme_of(cycle(6), {-1, -1}), {2, 3}),
                      {true, false, false}, graph.graph->info(), nullptr));
  CATCH_CHECK(batch.relations[0].transposed[0].indptr.empty());
  CATCH_CHECK(batch.relations[0].transposed[1].indptr.size() == 5);
}

CATCH_TEST_CASE("edge types are merged row by row", "[pipelines][assembly]") {
  memory_graph graph;
  graph.nodes = {{"n", 3}};
  graph.edges = {{0, "a", 0, {{1}, {}, {0, 1}}},
                 {0, "b", 0, {{2, 1}, {0}, {}}}};
  const auto batch = value_of(
    assemble(sampled(whole(graph), scheme_of(graph, {-1, -1}), {0}),
             {true, false, false}, whole(graph).graph->info(), nullptr));
  // Nodes 0, 1, 2. Row 0: a 1, b 2 1; row 1: b 0; row 2: a 0 1.
  const auto& forward = batch.relations.at(0).forward;
  CATCH_CHECK(list(forward.indptr) == counts{0, 3, 4, 6});
  CATCH_CHECK(list(forward.columns) == locals{1, 2, 1, 0, 0, 1});
  CATCH_CHECK(list(batch.relations[0].transposed[1].columns)
              == locals{0, 0, 0});
}

CATCH_TEST_CASE("weights go with their edges",
                "[pipelines][assembly][weights]") {
  auto weighted = cycle(6);
  for (std::size_t i = 0; i < 6; ++i) // From i - 1, and from i + 1.
    weighted.edges[0].weights.push_back({float(i), 10 + float(i)});
  auto scheme = scheme_of(weighted, {-1, -1});
  scheme.weights = true;
  const auto graph = whole(weighted);
  for (auto merged : {true, false}) {
    const auto batch = value_of(assemble(sampled(graph, scheme, {2, 3}),
                                         {merged, false, true, true},
                                         graph.graph->info(), nullptr));
    const auto& relation = batch.relations.at(0);
    // Rows 2, 3, 1, 4, and by source of 2, 3, 1, 4, 0, 5.
    CATCH_CHECK(list(relation.forward.weights)
                == std::vector<float>{2, 12, 3, 13, 1, 11, 4, 14});
    CATCH_CHECK(list(relation.transposed[0].weights)
                == std::vector<float>{3, 11, 12, 4, 2, 13, 1, 14});
    CATCH_CHECK(list(relation.transposed[1].weights)
                == std::vector<float>{3, 12, 2, 13});
  }
}

CATCH_TEST_CASE("ages go with their edges", "[pipelines][assembly][times]") {
  memory_graph graph;
  graph.nodes = {{"n", 3}};
  graph.edges = {{0, "a", 0, {{1}, {}, {0, 1}}},
                 {0, "b", 0, {{2, 1}, {0}, {}}}};
  graph.edges[0].times = {{3}, {}, {1, 5}};
  graph.edges[1].times = {{2, 4}, {9}, {}};
  const auto all = whole(graph);
  auto scheme = scheme_of(graph, {-1, -1});
  scheme.time.used = true;
  scheme.ages = true;
  auto seeds = target_seeds(all.graph->info(), std::vector<node_id>{0});
  seeds.until = {10};
  const auto assembled = [&](bool merged) {
    fetched_batch batch;
    batch.graph = value_of(sample(*all.graph, all.shards, scheme, 7, seeds));
    return value_of(assemble(std::move(batch), {merged, false, true},
                             all.graph->info(), nullptr));
  };
  using ages = std::vector<float>;
  const auto merged = assembled(true);
  CATCH_REQUIRE(merged.relations.size() == 1);
  // Row by row of both types, as their sources stand.
  CATCH_CHECK(list(merged.relations[0].forward.columns)
              == locals{1, 2, 1, 0, 0, 1});
  CATCH_CHECK(list(merged.relations[0].ages) == ages{7, 8, 6, 1, 9, 5});
  const auto apart = assembled(false);
  CATCH_REQUIRE(apart.relations.size() == 2);
  CATCH_CHECK(list(apart.relations[0].ages) == ages{7, 9, 5});
  CATCH_CHECK(list(apart.relations[1].ages) == ages{8, 6, 1});
}

CATCH_TEST_CASE("edges without weights weigh 1 where they are merged with "
                "others",
                "[pipelines][assembly][weights]") {
  memory_graph graph;
  graph.nodes = {{"n", 3}};
  graph.edges = {{0, "a", 0, {{1}, {}, {0, 1}}},
                 {0, "b", 0, {{2, 1}, {0}, {}}, {{5, 6}, {7}, {}}}};
  auto scheme = scheme_of(graph, {-1, -1});
  const auto forward = [&] {
    auto batch = value_of(assemble(sampled(whole(graph), scheme, {0}),
                                   {true, false, false},
                                   whole(graph).graph->info(), nullptr));
    return list(batch.relations.at(0).forward.weights);
  };
  CATCH_CHECK(forward().empty());
  scheme.weights = true;
  // Row 0: a 1, b 2 1; row 1: b 0; row 2: a 0 1.
  CATCH_CHECK(forward() == std::vector<float>{1, 5, 6, 7, 1, 1});
}

CATCH_TEST_CASE("merging needs one node type", "[pipelines][assembly]") {
  memory_graph graph;
  graph.nodes = {{"a", 1}, {"b", 1}};
  graph.edges = {{1, "to", 0, {{0}}}};
  CATCH_CHECK(
    error_of(assemble(sampled(whole(graph), scheme_of(graph, {1}), {0}),
                      {true, false, false}, whole(graph).graph->info(),
                      nullptr))
      .code
    == ec::invalid_argument);
}

CATCH_TEST_CASE("transposed CSRs hold the same edges",
                "[pipelines][assembly]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto cut_up = whole(graph);
    const auto batch = value_of(assemble(
      sampled(cut_up, scheme_of(graph, {3, 2, -1}), random_seeds(graph, seed)),
      {false, false, true}, cut_up.graph->info(), nullptr));
    for (const auto& relation : batch.relations)
      for (int layer = 0; layer < 3; ++layer) {
        const auto& graph_of = batch.data.graph;
        const auto rows = graph_of.rows(relation.destination, 3 - layer);
        auto forward = edges_of(relation.forward, rows);
        const auto& back = relation.transposed[layer];
        const auto sources = static_cast<std::int64_t>(back.indptr.size()) - 1;
        CATCH_CHECK(sources
                    == graph_of.nodes[relation.source].found[3 - layer]);
        pairs backward;
        for (auto [source, row] : edges_of(back, sources))
          backward.emplace_back(row, source);
        for (std::int64_t c = 0; c < sources; ++c)
          CATCH_REQUIRE(
            std::is_sorted(back.columns.data() + back.indptr[c],
                           back.columns.data() + back.indptr[c + 1]));
        std::sort(forward.begin(), forward.end());
        std::sort(backward.begin(), backward.end());
        CATCH_CHECK(forward == backward);
      }
  }
}
