#include "messages/base/random.hpp"
#include "partition/importers/rmat/rmat_edges.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "partition/sampling/rows/row_cache.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace graphmill;
using namespace graphmill::test;

namespace {

bool near(double a, double b) {
  return std::abs(a - b) < 1e-6;
}

/// Seeds of a trainer of which every batch has `batch`.
std::vector<seed_chance> chances_of(std::span<const node_id> seeds,
                                    std::int64_t batch) {
  std::vector<seed_chance> out;
  for (auto id : seeds)
    out.push_back({id, std::min(1.0F, static_cast<float>(batch)
                                        / static_cast<float>(seeds.size()))});
  return out;
}

node_scores inclusion_of(const cut_graph& graph, const sampling_scheme& scheme,
                         std::span<const node_id> seeds, std::int64_t batch,
                         const inclusion_limits& limits = {}) {
  auto out = no_scores(graph.graph->info());
  value_of(add_inclusion(*graph.graph, graph.shards, scheme,
                         chances_of(seeds, batch), out, limits));
  return out;
}

node_scores degrees_of(const cut_graph& graph) {
  auto out = no_scores(graph.graph->info());
  for (const auto& part : graph.shards)
    add_degrees(*part, out);
  return out;
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
                                      const sampling_scheme& scheme,
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
      value_of(sample(*graph.graph, graph.shards, scheme,
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

CATCH_TEST_CASE("damaged lists and sources do no harm to the analysis",
                "[partition][hot_nodes]") {
  const std::vector<node_id> seeds{0, 1, 2};
  const auto code = [&seeds](auto spoil) {
    const auto parts = cut(paper_graph(), 1, {{0, 0, 0}, {0, 0}});
    spoil(parts.shards[0]->edges(0));
    auto scores = no_scores(parts.graph->info());
    return error_of(add_inclusion(*parts.graph, parts.shards,
                                  scheme_of(paper_graph(), {-1}),
                                  chances_of(seeds, 3), scores, {}))
      .code;
  };
  for (const auto end : std::vector<std::int64_t>{INT64_MIN, -5, 4, INT64_MAX})
    CATCH_CHECK(
      code([end](const edge_shard& edges) { damage(edges.indptr, 1, end); })
      == ec::invalid_data);
  for (const std::int32_t source : {-1, 3, INT32_MAX})
    CATCH_CHECK(code([source](const edge_shard& edges) {
                  std::memcpy(const_cast<std::byte*>(edges.indices.data),
                              &source, sizeof source);
                })
                == ec::invalid_data);
}

CATCH_TEST_CASE("inclusion probabilities on paper", "[partition][hot_nodes]") {
  const auto graph = paper_graph();
  // In one part, and in two: node 1 of "a" and node 0 of "b" lie elsewhere.
  const auto parts = GENERATE_COPY(cut(graph, 1, {{0, 0, 0}, {0, 0}}),
                                   cut(graph, 2, {{0, 1, 0}, {1, 0}}));
  const auto of = [&parts, &graph](std::vector<std::int32_t> fanouts,
                                   bool replace, std::vector<node_id> seeds,
                                   std::int64_t batch) {
    const auto& places = parts.to_global;
    for (auto& id : seeds)
      id = places[0][static_cast<std::size_t>(id)];
    const auto got = inclusion_of(
      parts, scheme_of(graph, std::move(fanouts), replace), seeds, batch);
    auto out = got;
    for (std::size_t t = 0; t < out.size(); ++t)
      for (std::size_t i = 0; i < out[t].size(); ++i)
        out[t][i] = got[t][static_cast<std::size_t>(places[t][i])];
    return out;
  };
  // One of two seeds per batch; one of two in-edges of node 0, all of node 1.
  const auto one_hop = of({1}, false, {0, 1}, 1);
  CATCH_CHECK(near(one_hop[0][0], 0.5));
  CATCH_CHECK(near(one_hop[0][1], 1 - 0.5 * (1 - 0.25)));
  CATCH_CHECK(near(one_hop[0][2], 1 - (1 - 0.25) * (1 - 0.5)));
  CATCH_CHECK(near(one_hop[1][0], 0.25));
  CATCH_CHECK(near(one_hop[1][1], 1 - (1 - 0.25) * (1 - 0.5)));
  // Two hops from node 0, all neighbours.
  const auto two_hops = of({1, -1}, false, {0}, 1);
  CATCH_CHECK(near(two_hops[0][0], 1));
  CATCH_CHECK(near(two_hops[0][1], 0.5));
  CATCH_CHECK(near(two_hops[0][2], 1 - (1 - 0.5) * (1 - 0.5)));
  // With replacement two draws of two miss one with 1/4.
  const auto again = of({2}, true, {0}, 1);
  CATCH_CHECK(near(again[0][1], 0.75));
  // No seeds, no batch.
  const auto none = of({2}, false, {}, 5);
  CATCH_CHECK(none[0] == std::vector<float>(3, 0.0F));
}

CATCH_TEST_CASE("inclusion does not depend on the parts",
                "[partition][hot_nodes]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto seeds = random_seeds(graph, seed);
    const auto scheme = scheme_of(graph, {3, 2});
    const auto a = whole(graph);
    const auto b = cut(graph, 3, random_assignment(graph, 3, seed));
    std::vector<node_id> moved;
    for (auto id : seeds)
      moved.push_back(b.to_global[graph.target][id]);
    const auto pa = inclusion_of(a, scheme, seeds, 2);
    // Answers as small as can be: nodes with many in-edges take several.
    const auto pb =
      inclusion_of(b, scheme, moved, 2, {2 + std::int64_t(seed), 3});
    const auto da = degrees_of(a);
    const auto db = degrees_of(b);
    for (std::size_t t = 0; t < pa.size(); ++t)
      for (std::size_t i = 0; i < pa[t].size(); ++i) {
        const auto j = static_cast<std::size_t>(b.to_global[t][i]);
        CATCH_CHECK(near(pa[t][i], pb[t][j]));
        CATCH_CHECK((pa[t][i] >= 0 && pa[t][i] <= 1));
        CATCH_CHECK(da[t][i] == db[t][j]);
      }
  }
}

CATCH_TEST_CASE("in-edges are as likely as their weights say",
                "[partition][hot_nodes]") {
  memory_graph graph;
  graph.nodes = {{"node", 5}};
  graph.edges = {{0, "to", 0, {{1, 2, 3, 4}, {}, {}, {}, {}}}};
  graph.edges[0].weights = {{1, 0, 2, 5}, {}, {}, {}, {}};
  const auto parts = whole(graph);
  const std::vector<float> chances{0.5F};
  const auto misses = [&](draw_rule rule) {
    auto reply = value_of(spread(*parts.shards[0], {0, rule, 0, 0, chances}));
    CATCH_CHECK(list(reply.sources) == std::vector<node_id>{1, 2, 3, 4});
    return list(reply.misses);
  };
  for (const auto kind : {draw_kind::weighted_without_replacement,
                          draw_kind::weighted_with_replacement}) {
    const auto got = misses({2, kind});
    for (std::size_t i = 0; i < 4; ++i) {
      const auto share = graph.edges[0].weights[0][i] / 8.0;
      CATCH_CHECK(
        std::abs(got[i] - std::log1p(-0.5 * (1 - (1 - share) * (1 - share))))
        < 1e-6);
    }
  }
  // Lists taken whole, and other kinds, leave weights out.
  for (const draw_rule rule :
       {draw_rule{4, draw_kind::weighted_without_replacement},
        draw_rule{-1, draw_kind::weighted_with_replacement}})
    CATCH_CHECK(misses(rule)
                == std::vector<float>(4, static_cast<float>(std::log1p(-0.5))));
  CATCH_CHECK(misses({2, draw_kind::labor})
              == misses({2, draw_kind::without_replacement}));
}

CATCH_TEST_CASE("answers about inclusion that make no sense are refused",
                "[partition][hot_nodes]") {
  const auto parts = cut(cycle(8), 2, {{0, 0, 0, 0, 1, 1, 1, 1}});
  const auto scheme = scheme_of(cycle(8), {2});
  const std::vector<seed_chance> seeds{{1, 0.5F}, {2, 0.5F}, {5, 0.5F}};
  inclusion work{*parts.graph, scheme, seeds};
  const auto tasks = work.tasks();
  CATCH_REQUIRE(tasks.size() == 2);
  CATCH_CHECK(tasks[0].first == 1);
  CATCH_CHECK(tasks[0].count == 2);
  const auto request = work.request(tasks[0]);
  CATCH_CHECK(error_of(spread(*parts.shards[1], request)).code
              == ec::invalid_argument);
  auto edited = request;
  edited.edge_type = 1;
  CATCH_CHECK(error_of(spread(*parts.shards[0], edited)).code
              == ec::invalid_argument);
  const std::vector<float> no_chances{2, -1};
  edited = request;
  edited.chances = no_chances;
  CATCH_CHECK(error_of(spread(*parts.shards[0], edited)).code
              == ec::invalid_argument);
  const auto refused = [&](auto change) {
    auto reply = value_of(spread(*parts.shards[0], request));
    auto task = tasks[0];
    change(reply);
    return !work.accept(task, reply);
  };
  CATCH_CHECK(!refused([](inclusion_reply&) {}));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.nodes = 3; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.nodes = -1; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.nodes = 0; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.edges = 1; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.misses.resize(1); }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.misses[0] = 1; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.misses[0] = NAN; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.sources[0] = 8; }));
  CATCH_CHECK(refused([](inclusion_reply& r) { r.sources[0] = -1; }));
}

CATCH_TEST_CASE("hot nodes are remote, the best, and within the budget",
                "[partition][hot_nodes]") {
  auto graph = cycle(8);
  graph.nodes[0].width = 2;
  graph.nodes[0].features.assign(16, 0.0F);
  const auto parts = cut(graph, 2, {{0, 0, 0, 0, 1, 1, 1, 1}});
  const node_scores scores{{9, 9, 9, 9, 0.1F, 0, 0.5F, 0.1F}};
  const auto choose = [&parts, &scores](std::uint64_t budget) {
    return choose_hot_nodes(*parts.graph, std::array{part_id{0}}, scores,
                            budget, false);
  };
  using ids = std::vector<node_id>;
  CATCH_CHECK(choose(7).ids[0].empty());
  CATCH_CHECK(choose(8).ids[0] == ids{6});
  CATCH_CHECK(choose(23).ids[0] == ids{4, 6});
  CATCH_CHECK(choose(23).bytes == 16);
  CATCH_CHECK(choose(24).ids[0] == ids{4, 6, 7}); // 5 is never wanted.
  CATCH_CHECK(choose(1000).ids[0] == ids{4, 5, 6, 7});
  const auto halves =
    choose_hot_nodes(*parts.graph, std::array{part_id{0}}, scores, 11, true);
  CATCH_CHECK(halves.ids[0] == ids{4, 6});
  CATCH_CHECK(halves.bytes == 8);
}

CATCH_TEST_CASE("inclusion probabilities choose as well as degrees, or better",
                "[partition][hot_nodes]") {
  const auto graph = rmat_graph(12, 3);
  constexpr part_id parts = 4;
  const auto cut_up = cut(graph, parts, random_assignment(graph, parts, 3));
  const auto scheme = scheme_of(graph, {10, 5, 3}, false, false);
  const auto by_degree = degrees_of(cut_up);
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
    const auto scores = inclusion_of(cut_up, scheme, seeds, batch);
    const std::array here{part};
    const auto owned = offsets[part + 1] - offsets[part];
    std::vector<hot_nodes> caches;
    for (auto percent : percents) {
      const auto budget =
        static_cast<std::uint64_t>(owned * 16 * percent / 100);
      caches.push_back(
        choose_hot_nodes(*cut_up.graph, here, scores, budget, false));
      caches.push_back(
        choose_hot_nodes(*cut_up.graph, here, by_degree, budget, false));
    }
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      const auto rows =
        remote_rows(cut_up, part, scheme, seeds, batch, epoch, caches);
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
    nodes.half = seed % 3 == 0;
    info.node_types[0].feature_type =
      seed % 3 == 1 ? dtype::float16 : dtype::float32;
    const std::uint64_t row_bytes = seed % 3 == 2 ? 12 : 6;
    for (node_id id = 0; id < 300; ++id)
      if (draws.below(20) < seed)
        nodes.ids[0].push_back(id << 33);
    const auto ids = nodes.ids[0];
    const auto cache = std::make_unique<row_cache>();
    CATCH_CHECK(!cache->is_open());
    value_of(cache->hold(info, std::move(nodes)));
    CATCH_CHECK(cache->byte_size()
                <= ids.size() * (row_bytes + row_cache::bytes_per_row) + 8);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // In a float16, exactly.
      const auto value = static_cast<float>(i) / 4;
      cache->put(0, i, std::array{value, -value, 0.5F});
    }
    cache->open();
    for (node_id id = 0; id < 300; ++id) {
      std::array<float, 3> row{};
      const auto found = cache->find(0, id << 33, row.data());
      const auto there = std::lower_bound(ids.begin(), ids.end(), id << 33);
      const auto known = there != ids.end() && *there == id << 33;
      CATCH_CHECK(found == known);
      const auto value = static_cast<float>(there - ids.begin()) / 4;
      if (known)
        CATCH_CHECK(row == std::array{value, -value, 0.5F});
      CATCH_CHECK_FALSE(cache->find(1, id, row.data()));
    }
  }
}
