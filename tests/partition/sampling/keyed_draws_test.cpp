#include "partition/sampling/keyed_draws.hpp"

#include "messages/base/random.hpp"
#include "partition/importers/rmat/rmat_edges.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <numeric>
#include <set>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using positions = std::vector<std::uint32_t>;

positions by_weight(const std::vector<float>& weights, std::size_t count,
                    std::uint64_t key, bool repeatedly = false) {
  keyed_draws draws;
  positions out(count);
  if (repeatedly)
    draws.by_weight_repeatedly(key, 5, 1, weights, out);
  else
    draws.by_weight(key, 5, 1, weights, out);
  return out;
}

/// How often each set of positions is drawn with so many keys.
std::map<positions, double> counts_of(const std::vector<float>& weights,
                                      std::size_t count, bool repeatedly,
                                      std::uint64_t keys) {
  std::map<positions, double> out;
  for (std::uint64_t key = 0; key < keys; ++key)
    ++out[by_weight(weights, count, mix64(key), repeatedly)];
  return out;
}

positions by_source(const std::vector<std::int32_t>& sources, std::size_t count,
                    std::uint64_t key, std::uint32_t middle = 1) {
  keyed_draws draws;
  positions out(count);
  const source_list list{{reinterpret_cast<const std::byte*>(sources.data()),
                          std::ssize(sources), false},
                         0,
                         {},
                         {},
                         1 << 20};
  CATCH_CHECK(draws.by_source(
    key, middle, static_cast<std::uint32_t>(sources.size()), list, out));
  return out;
}

memory_graph keyed_graph(int scale, std::int64_t degree) {
  rmat_options options;
  options.scale = scale;
  options.seed = 3;
  options.edges = degree << scale;
  const rmat_edges edges{options};
  memory_graph graph;
  graph.nodes = {{"node", std::int64_t{1} << scale}};
  graph.edges = {{0, "links", 0, {}}};
  graph.edges[0].in.resize(std::size_t{1} << scale);
  for (std::int64_t e = 0; e < options.edges; ++e) {
    const auto [from, to] = edges(e);
    graph.edges[0].in[static_cast<std::size_t>(to)].push_back(from);
  }
  return graph;
}

} // namespace

CATCH_TEST_CASE("logarithms in integers are exact, and the same everywhere",
                "[partition][keyed_draws]") {
  constexpr auto most = ~std::uint64_t{0};
  CATCH_CHECK(minus_log2(0) == std::uint64_t{1} << 63);
  CATCH_CHECK(minus_log2(most >> 1) == std::uint64_t{1} << 57);
  CATCH_CHECK(minus_log2(most) == 1);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto u = mix64(i) >> (i % 60);
    CATCH_INFO("u = " << u);
    const auto log = minus_log2(u);
    sum = sum * 31 + log;
    CATCH_CHECK(minus_log2(u + 1) <= log);
    const auto value = std::ldexp(static_cast<double>(log), -57);
    CATCH_CHECK(std::abs(value + std::log2(std::ldexp(double(u) + 1, -64)))
                <= 1e-14 * std::max(1.0, value));
  }
  // Computed in Python, with integers of any size.
  CATCH_CHECK(sum == 0xd3da92610764c93d);
}

CATCH_TEST_CASE("edges are drawn by their weights without replacement",
                "[partition][keyed_draws]") {
  const std::vector<float> weights{1, 2, 5, 0.5F};
  const double all = 8.5;
  constexpr std::uint64_t keys = 40000;
  auto once = counts_of(weights, 1, false, keys);
  for (std::uint32_t i = 0; i < 4; ++i)
    check_share(once[{i}], weights[i] / all, keys);
  // One after the other, each in proportion to those that are left.
  auto twice = counts_of(weights, 2, false, keys);
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint32_t j = i + 1; j < 4; ++j) {
      const double a = weights[i] / all;
      const double b = weights[j] / all;
      check_share(twice[{i, j}], a * b / (1 - a) + a * b / (1 - b), keys);
    }
  // Scaling all weights by a power of two changes no draw.
  for (std::uint64_t key = 0; key < 100; ++key)
    CATCH_CHECK(by_weight({1, 2, 5, 0.5F}, 2, key)
                == by_weight({8, 16, 40, 4}, 2, key));
}

CATCH_TEST_CASE("the edges with the smallest keys are drawn",
                "[partition][keyed_draws]") {
  const auto smallest = [](auto keys, std::size_t count) {
    std::vector<std::pair<typename decltype(keys)::value_type, std::uint32_t>>
      all;
    for (const auto key : keys)
      all.emplace_back(key, static_cast<std::uint32_t>(all.size()));
    std::sort(all.begin(), all.end());
    positions out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(all[i].second);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{mix64(seed), 1};
    const auto degree = 2 + draws.below(seed % 10 == 0 ? 3000 : 60);
    const auto count = 1 + draws.below(std::min(degree - 1, 40U));
    const auto universe = 1 + draws.below(2 * degree);
    std::vector<std::int32_t> sources;
    std::vector<float> weights;
    for (std::uint32_t j = 0; j < degree; ++j) {
      sources.push_back(static_cast<std::int32_t>(draws.below(universe)));
      weights.push_back(draws.below(8) == 0
                          ? 0
                          : static_cast<float>(1 + draws.below(1000))
                              / static_cast<float>(1 + draws.below(100)));
    }
    std::vector<double> by_weights;
    std::vector<std::uint64_t> by_sources;
    random_stream own{seed, 5, 1};
    std::map<std::int32_t, std::uint32_t> earlier;
    for (std::uint32_t j = 0; j < degree; ++j) {
      const auto high = own.next();
      const auto log =
        static_cast<double>(minus_log2(std::uint64_t{high} << 32 | own.next()));
      by_weights.push_back(weights[j] > 0 ? log / weights[j] : log * 0x1p+300);
      const auto block =
        philox4x32(counter_of(static_cast<std::uint64_t>(sources[j]), 1,
                              earlier[sources[j]]++),
                   seed);
      by_sources.push_back(std::uint64_t{block[1]} << 32 | block[0]);
    }
    CATCH_CHECK(by_weight(weights, count, seed) == smallest(by_weights, count));
    CATCH_CHECK(by_source(sources, count, seed) == smallest(by_sources, count));
  }
}

CATCH_TEST_CASE("weights of any size are drawn by their keys",
                "[partition][keyed_draws]") {
  constexpr auto largest = std::numeric_limits<float>::max();
  constexpr auto least = std::numeric_limits<float>::denorm_min();
  const std::vector<std::vector<float>> kinds{
    {largest},        {largest, largest / 3},
    {least},          {least, 3e-42F},
    {largest, least}, {0, largest, 1, 1e-38F, least},
    {1e+34F, 1e+35F}, {1e-30F, 0}};
  for (const auto& kind : kinds)
    for (std::uint64_t key = 0; key < 12; ++key) {
      CATCH_INFO("kind " << &kind - kinds.data() << ", key " << key);
      random_stream draws{mix64(key), 3};
      // Of a long list the smallest keys are small.
      std::vector<float> weights(20'000);
      for (auto& weight : weights)
        weight = kind[draws.below(static_cast<std::uint32_t>(kind.size()))];
      std::vector<std::pair<double, std::uint32_t>> keys;
      random_stream own{key, 5, 1};
      for (const auto weight : weights) {
        const auto high = own.next();
        const auto log = static_cast<double>(
          minus_log2(std::uint64_t{high} << 32 | own.next()));
        keys.emplace_back(weight > 0 ? log / weight : log * 0x1p+300,
                          static_cast<std::uint32_t>(keys.size()));
      }
      std::sort(keys.begin(), keys.end());
      for (const std::size_t count : {1U, 2U, 5U, 40U}) {
        positions expected;
        for (std::size_t i = 0; i < count; ++i)
          expected.push_back(keys[i].second);
        std::sort(expected.begin(), expected.end());
        CATCH_CHECK(by_weight(weights, count, key) == expected);
      }
    }
}

CATCH_TEST_CASE("limits of huge weights are not rounded as small floats are",
                "[partition][keyed_draws]") {
  constexpr std::uint64_t key = 215; // One of many where they would be.
  const std::vector<float> weights(400'000, std::numeric_limits<float>::max());
  // Of equal weights, the edge with the largest number has the smallest key.
  random_stream own{key, 5, 1};
  std::uint64_t largest = 0;
  std::uint32_t expected = 0;
  for (std::uint32_t j = 0; j < weights.size(); ++j) {
    const auto high = own.next();
    const auto number = std::uint64_t{high} << 32 | own.next();
    expected = number > largest ? j : expected;
    largest = std::max(largest, number);
  }
  CATCH_CHECK(by_weight(weights, 1, key) == positions{expected});
}

CATCH_TEST_CASE("edges without weight are drawn after all others",
                "[partition][keyed_draws]") {
  std::map<std::uint32_t, int> third;
  for (std::uint64_t key = 0; key < 300; ++key) {
    CATCH_INFO("key " << key);
    CATCH_CHECK(by_weight({0, 1e-38F, 0, 3e38F, 0}, 2, key) == positions{1, 3});
    const auto three = by_weight({0, 1, 0, 1, 0}, 3, key);
    CATCH_CHECK(std::count(three.begin(), three.end(), 1) == 1);
    CATCH_CHECK(std::count(three.begin(), three.end(), 3) == 1);
    for (auto i : three)
      ++third[i];
    CATCH_CHECK(by_weight({0, 0, 7, 0}, 50, key, true) == positions(50, 2));
  }
  for (std::uint32_t i : {0, 2, 4})
    CATCH_CHECK(third[i] > 60);
  // Without any weight, all are equal.
  const std::vector<float> nothing(4);
  for (const bool repeatedly : {false, true}) {
    auto counts = counts_of(nothing, 1, repeatedly, 10000);
    for (std::uint32_t i = 0; i < 4; ++i)
      check_share(counts[{i}], 0.25, 10000);
  }
}

CATCH_TEST_CASE("edges are drawn by their weights with replacement",
                "[partition][keyed_draws]") {
  const std::vector<float> weights{1, 2, 0, 5};
  constexpr std::uint64_t keys = 40000;
  auto counts = counts_of(weights, 2, true, keys);
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint32_t j = 0; j < 4; ++j)
      check_share(counts[{i, j}], weights[i] * weights[j] / 64.0, keys);
}

CATCH_TEST_CASE("broken weights draw positions of the list",
                "[partition][keyed_draws]") {
  const std::vector<float> broken{NAN, -1, INFINITY, NAN, -INFINITY, 1};
  for (std::uint64_t key = 0; key < 50; ++key)
    for (const bool repeatedly : {false, true})
      for (auto i : by_weight(broken, 3, key, repeatedly))
        CATCH_CHECK(i < broken.size());
}

CATCH_TEST_CASE("labor draws a uniform subset of each list, parallel edges "
                "and all",
                "[partition][keyed_draws]") {
  constexpr std::uint64_t keys = 30000;
  for (const auto& sources :
       {std::vector<std::int32_t>{7, 7, 3}, std::vector<std::int32_t>{7, 7, 7},
        std::vector<std::int32_t>{1, 2, 3, 2, 2, 9}}) {
    const auto n = sources.size();
    std::map<positions, double> pairs;
    std::vector<double> single(n);
    for (std::uint64_t key = 0; key < keys; ++key) {
      ++single[by_source(sources, 1, mix64(key))[0]];
      ++pairs[by_source(sources, 2, mix64(key))];
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      check_share(single[i], 1.0 / static_cast<double>(n), keys);
      for (std::uint32_t j = i + 1; j < n; ++j)
        check_share(pairs[{i, j}], 2.0 / static_cast<double>(n * (n - 1)),
                    keys);
    }
  }
}

CATCH_TEST_CASE("labor takes the same sources for all nodes of a hop",
                "[partition][keyed_draws]") {
  std::vector<std::int32_t> sources(500);
  std::iota(sources.begin(), sources.end(), 0);
  const auto drawn = by_source(sources, 10, 4);
  auto shuffled = sources;
  std::reverse(shuffled.begin(), shuffled.end());
  std::set<std::int32_t> same;
  for (auto i : by_source(shuffled, 10, 4))
    same.insert(shuffled[i]);
  CATCH_CHECK(same == std::set<std::int32_t>(drawn.begin(), drawn.end()));
  CATCH_CHECK(by_source(sources, 10, 4, 2) != drawn); // Another hop.
  CATCH_CHECK(by_source(sources, 10, 5) != drawn);
}

CATCH_TEST_CASE("labor finds fewer nodes than uniform draws, and its means are "
                "unbiased",
                "[partition][keyed_draws]") {
  const auto graph = keyed_graph(14, 24);
  const auto parts = cut(graph, 3, random_assignment(graph, 3, 1));
  auto scheme = scheme_of(graph, {15, 10, 5}, false, false);
  batch_seeds seeds{{{}}};
  for (node_id i = 0; i < 256; ++i)
    seeds.nodes[0].push_back(i * 61);
  const auto nodes = [&](draw_kind kind) {
    scheme.kind = kind;
    return value_of(sample(*parts.graph, parts.shards, scheme, 3, seeds))
      .nodes[0]
      .ids.size();
  };
  CATCH_CHECK(nodes(draw_kind::labor)
              < 0.85 * nodes(draw_kind::without_replacement));
  // The mean of a number of each source, of one node with many in-edges.
  const auto& list = *std::max_element(
    graph.edges[0].in.begin(), graph.edges[0].in.begin() + 2000,
    [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto number = [](node_id id) {
    return static_cast<double>(mix64(static_cast<std::uint64_t>(id)) >> 40);
  };
  const std::vector<std::int32_t> sources(list.begin(), list.end());
  const auto n = static_cast<double>(list.size());
  double mean = 0;
  for (auto id : list)
    mean += number(id) / n;
  double variance = 0;
  for (auto id : list)
    variance += (number(id) - mean) * (number(id) - mean) / (n - 1);
  double sum = 0;
  constexpr int keys = 1000;
  constexpr std::size_t fanout = 10;
  for (std::uint64_t key = 0; key < keys; ++key)
    for (auto i : by_source(sources, fanout, mix64(key)))
      sum += number(sources[i]) / fanout / keys;
  const auto sigma = std::sqrt(variance / fanout * (1 - fanout / n) / keys);
  CATCH_INFO(sum << " of " << mean << ", sigma " << sigma);
  CATCH_CHECK(std::abs(sum - mean) <= 3 * sigma);
}

// Also prints what kinds take: by hand, with the tag.
CATCH_TEST_CASE("labor finds at most 0.75 of uniform's nodes of R-MAT 2^18",
                "[.][partition][keyed_draws_measure]") {
  auto graph = keyed_graph(18, 24);
  graph.edges[0].weights.resize(graph.edges[0].in.size());
  random_stream draws{1, 2};
  for (std::size_t i = 0; i < graph.edges[0].in.size(); ++i)
    for (std::size_t j = 0; j < graph.edges[0].in[i].size(); ++j)
      graph.edges[0].weights[i].push_back(1 - draws.uniform());
  const auto parts = whole(graph);
  auto scheme = scheme_of(graph, {15, 10, 5}, false, false);
  std::map<draw_kind, std::size_t> nodes_of;
  for (const auto kind : {draw_kind::without_replacement, draw_kind::labor,
                          draw_kind::weighted_without_replacement,
                          draw_kind::weighted_with_replacement}) {
    scheme.kind = kind;
    std::size_t nodes = 0;
    std::size_t edges = 0;
    const auto start = std::clock();
    for (std::uint64_t batch = 0; batch < 10; ++batch) {
      batch_seeds seeds{{{}}};
      random_stream chosen{batch, 7};
      std::set<node_id> distinct;
      while (distinct.size() < 1024)
        distinct.insert(chosen.below(1 << 18));
      seeds.nodes[0].assign(distinct.begin(), distinct.end());
      const auto got =
        value_of(sample(*parts.graph, parts.shards, scheme, batch, seeds));
      nodes += got.nodes[0].ids.size();
      edges += got.edges[0].sources.size();
    }
    nodes_of[kind] = nodes;
    const auto seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    CATCH_WARN("kind " << static_cast<int>(kind) << ": " << nodes / 10
                       << " nodes and " << edges / 10 << " edges in "
                       << seconds * 100 << " ms of CPU a batch");
  }
  CATCH_CHECK(
    static_cast<double>(nodes_of[draw_kind::labor])
    <= 0.75 * static_cast<double>(nodes_of[draw_kind::without_replacement]));
}

CATCH_TEST_CASE("owners need the original ids of all nodes for labor",
                "[partition][keyed_draws]") {
  const auto graph = cycle(10);
  const auto parts = cut(graph, 2, random_assignment(graph, 2, 1));
  const auto& part = *parts.shards[0];
  damage(std::span{&part.nodes(0), 1}, 0, [&] {
    auto nodes = part.nodes(0);
    nodes.all_originals = {};
    return nodes;
  }());
  const std::vector<node_id> ids{0};
  neighbour_reply reply;
  neighbour_request request{1, 1, 0, {1, draw_kind::labor}, false, ids};
  CATCH_CHECK(error_of(sample_neighbours(part, request, reply)).code
              == ec::not_found);
  request.rule.kind = draw_kind::without_replacement;
  value_of(sample_neighbours(part, request, reply));
}

CATCH_TEST_CASE("a source beyond all nodes is no crash", "[partition]"
                                                         "[keyed_draws]") {
  const auto graph = cycle(10);
  const auto parts = cut(graph, 2, random_assignment(graph, 2, 1));
  const auto& part = *parts.shards[0];
  const auto& edges = part.edges(0);
  damage(std::span{reinterpret_cast<const std::int32_t*>(edges.indices.data),
                   static_cast<std::size_t>(edges.indices.size)},
         1, std::int32_t{1 << 30});
  const std::vector<node_id> ids{0};
  neighbour_reply reply;
  CATCH_CHECK(
    error_of(sample_neighbours(
               part, {1, 1, 0, {1, draw_kind::labor}, false, ids}, reply))
      .code
    == ec::invalid_data);
}
