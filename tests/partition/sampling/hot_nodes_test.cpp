#include "messages/random.hpp"
#include "partition/hot_nodes.hpp"
#include "partition/importers/rmat_edges.hpp"
#include "partition/row_cache.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <array>
#include <cmath>

using namespace graphmill;
using namespace graphmill::test;

namespace {

bool near(double a, double b) {
  return std::abs(a - b) < 1e-12;
}

/// Two types: three "a" of which 0 and 1 have in-edges, and two "b".
memory_graph paper_graph() {
  memory_graph graph;
  graph.nodes.push_back({"a", 3, 2, std::vector<float>(6, 1.0F)});
  graph.nodes.push_back({"b", 2});
  graph.edges.push_back({0, "follows", 0, {{1, 2}, {2}, {}}});
  graph.edges.push_back({1, "tags", 0, {{0, 1}, {1}, {}}});
  return graph;
}

memory_graph rmat_graph(int scale, std::uint64_t seed) {
  rmat_options options;
  options.scale = scale;
  options.seed = seed;
  const rmat_edges edges{options};
  const auto nodes = std::int64_t{1} << scale;
  memory_graph graph;
  graph.nodes.push_back(
    {"node", nodes, 4,
     std::vector<float>(static_cast<std::size_t>(nodes) * 4)});
  auto& type = graph.edges.emplace_back();
  type.name = "to";
  type.in.resize(static_cast<std::size_t>(nodes));
  for (std::int64_t e = 0; e < 12 * nodes; ++e) {
    const auto [from, to] = edges(e);
    type.in[static_cast<std::size_t>(to)].push_back(from);
  }
  random_stream draws{seed, 4};
  for (node_id i = 0; i < nodes; ++i)
    if (draws.below(10) == 0)
      graph.nodes[0].train.push_back(i);
  return graph;
}

/// Remote rows that a part's batches of one epoch want, with each cache.
std::vector<std::int64_t> remote_rows(const cut_graph& graph, part_id part,
                                      const sampling_plan& plan,
                                      std::span<const node_id> seeds,
                                      std::size_t batch, std::uint64_t epoch,
                                      const std::vector<hot_nodes>& caches) {
  const auto offsets = graph.graph->offsets(0);
  std::vector<std::int64_t> out(caches.size());
  std::vector<node_id> order{seeds.begin(), seeds.end()};
  random_stream draws{epoch, 8};
  for (auto i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[draws.below(static_cast<std::uint32_t>(i))]);
  for (std::size_t from = 0; from < order.size(); from += batch) {
    const auto of_batch =
      std::span{order}.subspan(from, std::min(batch, order.size() - from));
    const auto sampled =
      value_of(sample(*graph.graph, graph.shards, plan,
                      stream_key(1, purpose::train, epoch, from), of_batch));
    for (auto id : sampled.nodes[0].ids)
      if (id < offsets[part] || id >= offsets[part + 1])
        for (std::size_t c = 0; c < caches.size(); ++c)
          out[c] += !std::binary_search(caches[c].ids[0].begin(),
                                        caches[c].ids[0].end(), id);
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("inclusion probabilities on paper", "[partition][hot_nodes]") {
  const auto graph = paper_graph();
  const auto parts = cut(graph, 1, random_assignment(graph, 1, 0));
  const auto of = [&parts, &graph](std::vector<std::int32_t> fanouts,
                                   bool replace, std::vector<node_id> seeds,
                                   std::int64_t batch) {
    return inclusion_probabilities(*parts.graph, parts.shards,
                                   plan_of(graph, std::move(fanouts), replace),
                                   seeds, batch);
  };
  // One of two seeds per batch; one of two in-edges of node 0, all of node 1.
  const auto one = of({1}, false, {0, 1}, 1);
  CATCH_CHECK(near(one[0][0], 0.5));
  CATCH_CHECK(near(one[0][1], 1 - 0.5 * (1 - 0.25)));
  CATCH_CHECK(near(one[0][2], 1 - (1 - 0.25) * (1 - 0.5)));
  CATCH_CHECK(near(one[1][0], 0.25));
  CATCH_CHECK(near(one[1][1], 1 - (1 - 0.25) * (1 - 0.5)));
  // Two hops from node 0, all neighbours.
  const auto two = of({1, -1}, false, {0}, 1);
  CATCH_CHECK(near(two[0][0], 1));
  CATCH_CHECK(near(two[0][1], 0.5));
  CATCH_CHECK(near(two[0][2], 1 - (1 - 0.5) * (1 - 0.5)));
  // With replacement two draws of two miss one with 1/4.
  const auto again = of({2}, true, {0}, 1);
  CATCH_CHECK(near(again[0][1], 0.75));
  // No seeds, no batch.
  const auto none = of({2}, false, {}, 5);
  CATCH_CHECK(none[0] == std::vector<double>(3, 0.0));
}

CATCH_TEST_CASE("inclusion does not depend on the parts",
                "[partition][hot_nodes]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto seeds = random_seeds(graph, seed);
    const auto plan = plan_of(graph, {3, 2});
    const auto a = whole(graph);
    const auto b = cut(graph, 3, random_assignment(graph, 3, seed));
    std::vector<node_id> moved;
    for (auto id : seeds)
      moved.push_back(b.to_global[graph.target][id]);
    const auto pa = inclusion_probabilities(*a.graph, a.shards, plan, seeds, 2);
    const auto pb = inclusion_probabilities(*b.graph, b.shards, plan, moved, 2);
    const auto da = degree_scores(*a.graph, a.shards);
    const auto db = degree_scores(*b.graph, b.shards);
    for (std::size_t t = 0; t < pa.size(); ++t)
      for (std::size_t i = 0; i < pa[t].size(); ++i) {
        const auto j = static_cast<std::size_t>(b.to_global[t][i]);
        CATCH_CHECK(near(pa[t][i], pb[t][j]));
        CATCH_CHECK((pa[t][i] >= 0 && pa[t][i] <= 1));
        CATCH_CHECK(da[t][i] == db[t][j]);
      }
  }
}

CATCH_TEST_CASE("hot nodes are remote, the best, and within the budget",
                "[partition][hot_nodes]") {
  auto graph = cycle(8);
  graph.nodes[0].width = 2;
  graph.nodes[0].features.assign(16, 0.0F);
  const auto parts = cut(graph, 2, {{0, 0, 0, 0, 1, 1, 1, 1}});
  const node_scores scores{{9, 9, 9, 9, 0.1, 0, 0.5, 0.1}};
  const auto choose = [&parts, &scores](std::uint64_t budget) {
    return choose_hot_nodes(*parts.graph, 0, scores, budget);
  };
  using ids = std::vector<node_id>;
  CATCH_CHECK(choose(7).ids[0].empty());
  CATCH_CHECK(choose(8).ids[0] == ids{6});
  CATCH_CHECK(choose(23).ids[0] == ids{4, 6});
  CATCH_CHECK(choose(23).bytes == 16);
  CATCH_CHECK(choose(1000).ids[0] == ids{4, 6, 7}); // 5 is never wanted.
}

CATCH_TEST_CASE("inclusion probabilities choose as well as degrees, or better",
                "[partition][hot_nodes]") {
  const auto graph = rmat_graph(12, 3);
  constexpr part_id parts = 4;
  const auto cut_up = cut(graph, parts, random_assignment(graph, parts, 3));
  const auto plan = plan_of(graph, {10, 5, 3}, false, false);
  const auto by_degree = degree_scores(*cut_up.graph, cut_up.shards);
  constexpr std::array percents{0, 10, 50, 100};
  std::array<std::int64_t, 4> vip{};
  std::array<std::int64_t, 4> degree{};
  for (part_id part = 0; part < parts; ++part) {
    const auto offsets = cut_up.graph->offsets(0);
    std::vector<node_id> seeds;
    for (auto id : cut_up.graph->seeds(split::train))
      if (id >= offsets[part] && id < offsets[part + 1])
        seeds.push_back(id);
    constexpr std::int64_t batch = 16;
    const auto scores =
      inclusion_probabilities(*cut_up.graph, cut_up.shards, plan, seeds, batch);
    const auto owned = offsets[part + 1] - offsets[part];
    std::vector<hot_nodes> caches;
    for (auto percent : percents) {
      const auto budget =
        static_cast<std::uint64_t>(owned * 16 * percent / 100);
      caches.push_back(choose_hot_nodes(*cut_up.graph, part, scores, budget));
      caches.push_back(
        choose_hot_nodes(*cut_up.graph, part, by_degree, budget));
    }
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      const auto rows =
        remote_rows(cut_up, part, plan, seeds, batch, epoch, caches);
      for (std::size_t i = 0; i < percents.size(); ++i) {
        vip[i] += rows[2 * i];
        degree[i] += rows[2 * i + 1];
      }
    }
  }
  for (std::size_t i = 0; i < percents.size(); ++i) {
    CATCH_INFO(percents[i] << " %: " << vip[i] << " remote rows by inclusion, "
                           << degree[i] << " by degree");
    CATCH_CHECK(static_cast<double>(vip[i])
                <= 1.01 * static_cast<double>(degree[i]));
  }
  CATCH_CHECK(vip[1] < vip[0]);
  CATCH_CHECK(vip[3] < vip[2]);
}

CATCH_TEST_CASE("the row cache finds what it has", "[partition][hot_nodes]") {
  dataset_info info;
  info.node_types.resize(2);
  info.node_types[0].feature_width = 3;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 6};
    hot_nodes nodes;
    nodes.ids.resize(2);
    for (node_id id = 0; id < 300; ++id)
      if (draws.below(20) < seed)
        nodes.ids[0].push_back(id << 33);
    const auto ids = nodes.ids[0];
    const auto cache = value_of(row_cache::make(info, std::move(nodes)));
    CATCH_CHECK(!cache->is_open());
    cache->open();
    for (std::size_t i = 0; i < 3 * ids.size(); ++i)
      cache->rows(0)[i] = static_cast<float>(i);
    for (node_id id = 0; id < 300; ++id) {
      const auto* row = cache->find(0, id << 33);
      const auto there = std::lower_bound(ids.begin(), ids.end(), id << 33);
      const auto known = there != ids.end() && *there == id << 33;
      CATCH_CHECK((row != nullptr) == known);
      if (known)
        CATCH_CHECK(row[0] == static_cast<float>(3 * (there - ids.begin())));
      CATCH_CHECK(cache->find(1, id) == nullptr);
    }
  }
}
