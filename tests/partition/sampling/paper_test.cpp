#include "messages/base/random.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "tests/partition/sampling/support.hpp"

#include <numeric>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using ids = std::vector<node_id>;
using locals = std::vector<local_id>;
using counts = std::vector<std::int64_t>;

} // namespace

CATCH_TEST_CASE("two hops on the cycle of six", "[partition][sampling]") {
  const auto graph = cycle(6);
  const auto scheme = scheme_of(graph, {-1, -1});
  for (auto wide : {false, true}) {
    const auto batch = sample_plain(whole(graph, {wide}), scheme, 7, ids{2, 3});
    CATCH_CHECK(batch.nodes[0] == ids{2, 3, 1, 4, 0, 5});
    CATCH_CHECK(batch.found[0] == counts{2, 4, 6});
    // 2 <- [1, 3], 3 <- [2, 4]; then 1 <- [0, 2], 4 <- [3, 5].
    const auto& edges = batch.edge_types[0];
    CATCH_CHECK(edges.indptr == counts{0, 2, 4, 6, 8});
    CATCH_CHECK(edges.sources == locals{2, 1, 0, 3, 4, 0, 1, 5});
    CATCH_CHECK(edges.edge_ids == ids{4, 5, 6, 7, 2, 3, 8, 9});
  }
}

CATCH_TEST_CASE("rows of blocks", "[partition][sampling]") {
  const auto graph = cycle(6);
  const auto cut = whole(graph);
  const auto batch = value_of(
    sample(*cut.graph, cut.shards, scheme_of(graph, {-1, -1}), 7, ids{2, 3}));
  CATCH_CHECK(batch.hops == 2);
  CATCH_CHECK(batch.rows(0, 0) == 0);
  CATCH_CHECK(batch.rows(0, 1) == 2);
  CATCH_CHECK(batch.rows(0, 2) == 4);
  CATCH_CHECK(batch.byte_size() == 6 * 8 + 5 * 8 + 8 * 4 + 8 * 8);
}

// Two types: papers 0..3 and authors 0..2.
//   cites:  0 <- [1, 2], 1 <- [3], 2 <- [], 3 <- [0, 0]
//   writes: 0 <- [2, 0], 1 <- [], 2 <- [1], 3 <- [1]     (author -> paper)
//   by:     0 <- [0], 1 <- [2, 3], 2 <- [0]              (paper -> author)
CATCH_TEST_CASE("two hops over three edge types", "[partition][sampling]") {
  memory_graph graph;
  graph.nodes = {{"paper", 4}, {"author", 3}};
  graph.edges = {{0, "cites", 0, {{1, 2}, {3}, {}, {0, 0}}},
                 {1, "writes", 0, {{2, 0}, {}, {1}, {1}}},
                 {0, "by", 1, {{0}, {2, 3}, {0}}}};
  // Hop 1, papers 0 and 3: cites finds 1 and 2; writes finds authors 2, 0, 1.
  // Hop 2, papers 1, 2 and authors 2, 0, 1: cites 1 <- 3, 2 <- nothing; writes
  // 2 <- 1; by 2 <- 0, 0 <- 0, 1 <- 2, 3.
  const assignment apart{{0, 1, 0, 1}, {2, 2, 2}};
  for (const auto& cut_up : {whole(graph), cut(graph, 3, apart)}) {
    const auto batch =
      sample_plain(cut_up, scheme_of(graph, {-1, -1}), 7, ids{0, 3});
    CATCH_CHECK(batch.nodes[0] == ids{0, 3, 1, 2});
    CATCH_CHECK(batch.nodes[1] == ids{2, 0, 1});
    CATCH_CHECK(batch.found[0] == counts{2, 4, 4});
    CATCH_CHECK(batch.found[1] == counts{0, 3, 3});
    const auto& [cites, writes, by] =
      std::tie(batch.edge_types[0], batch.edge_types[1], batch.edge_types[2]);
    CATCH_CHECK(cites.indptr == counts{0, 2, 4, 5, 5});
    CATCH_CHECK(cites.sources == locals{2, 3, 0, 0, 1});
    CATCH_CHECK(cites.edge_ids == ids{0, 1, 3, 4, 2});
    CATCH_CHECK(writes.indptr == counts{0, 2, 3, 3, 4});
    CATCH_CHECK(writes.sources == locals{0, 1, 2, 2});
    CATCH_CHECK(by.indptr == counts{0, 1, 2, 4});
    CATCH_CHECK(by.sources == locals{0, 0, 3, 1});
  }
}

CATCH_TEST_CASE("gathered rows lie where they should", "[partition][gather]") {
  memory_graph graph = cycle(6);
  graph.nodes[0].width = 3;
  for (int i = 0; i < 18; ++i)
    graph.nodes[0].features.push_back(static_cast<float>(i) * 0.5f - 2);
  for (auto half : {false, true}) {
    const auto cut_up = whole(graph, {false, half});
    std::vector<float> out(9, -100);
    const ids nodes{5, 0};
    const locals rows{0, 2};
    value_of(gather_features(*cut_up.shards[0], 0, nodes, rows, out.data()));
    CATCH_CHECK(
      out == std::vector<float>{5.5, 6, 6.5, -100, -100, -100, -2, -1.5, -1});
    value_of(gather_features(*cut_up.shards[0], 0, nodes, {}, out.data()));
    CATCH_CHECK(out[3] == -2);
    CATCH_CHECK(
      error_of(gather_features(*cut_up.shards[0], 0, ids{6}, {}, out.data()))
        .code
      == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("rows are rounded to float16 if asked", "[partition][gather]") {
  // 24 KiB of rows, and 6 MiB, which are written past the cache.
  for (std::int64_t nodes : {2000, 130'000})
    for (std::int64_t width : {3, 12}) {
      CATCH_INFO(nodes << " rows of " << width);
      memory_graph graph;
      graph.nodes = {{"n", nodes, width}};
      random_stream draws{5, 1};
      for (std::int64_t i = 0; i < nodes * width; ++i)
        graph.nodes[0].features.push_back(
          std::ldexp(static_cast<float>(draws.next()) - 0x1p31f,
                     -16 - static_cast<int>(draws.below(40))));
      const auto small = whole(graph);
      ids everything(static_cast<std::size_t>(nodes));
      std::iota(everything.begin(), everything.end(), node_id{0});
      pod_vector<float> out;
      out.resize(graph.nodes[0].features.size());
      value_of(
        gather_features(*small.shards[0], 0, everything, {}, out.data(), true));
      CATCH_CHECK(std::equal(
        out.begin(), out.end(), graph.nodes[0].features.begin(),
        [](float got, float from) { return got == from_half(to_half(from)); }));
      graph.nodes[0].features[static_cast<std::size_t>(7 * width + 1)] = -65520;
      const auto large = whole(graph);
      value_of(
        gather_features(*large.shards[0], 0, everything, {}, out.data()));
      const auto reason = error_of(
        gather_features(*large.shards[0], 0, everything, {}, out.data(), true));
      CATCH_CHECK(reason.code == ec::invalid_data);
      CATCH_CHECK(reason.message.find("node 7 of type n have the value -65520")
                  != std::string::npos);
    }
}

CATCH_TEST_CASE("rows of several parts fill one array", "[partition][gather]") {
  memory_graph graph;
  graph.nodes = {{"n", 500, 7}};
  for (int i = 0; i < 3500; ++i)
    graph.nodes[0].features.push_back(static_cast<float>(i));
  const auto owner = random_assignment(graph, 4, 3);
  const auto cut_up = cut(graph, 4, owner);
  std::vector<float> out(3500);
  for (part_id p = 0; p < 4; ++p) {
    ids owned;
    locals rows;
    for (node_id id = 499; id >= 0; --id)
      if (owner[0][id] == p) {
        owned.push_back(cut_up.to_global[0][id]);
        rows.push_back(static_cast<local_id>(id));
      }
    value_of(gather_features(*cut_up.shards[p], 0, owned, rows, out.data()));
  }
  CATCH_CHECK(out == graph.nodes[0].features);
}
