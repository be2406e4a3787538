#include "messages/base/random.hpp"
#include "partition/sampling/slices.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <set>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::uint64_t graphs = 120;

/// Fanouts of all kinds, per hop and edge type.
sampling_scheme random_scheme(const memory_graph& graph, std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::split, 0, 0), 2};
  sampling_scheme scheme;
  const auto hops = draws.below(4);
  for (std::uint32_t h = 0; h < hops; ++h) {
    auto& fanouts = scheme.fanouts.emplace_back();
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      fanouts.push_back(std::array{-1, 0, 1, 2, 3, 7, 33}[draws.below(7)]);
  }
  scheme.kind = random_kind(draws);
  scheme.edge_ids = true;
  return scheme;
}

/// The hop in which a row is expanded, from 0.
std::size_t hop_of(const std::vector<std::int64_t>& found, std::int64_t row) {
  return static_cast<std::size_t>(
    std::upper_bound(found.begin(), found.end(), row) - found.begin());
}

std::size_t expected_count(draw_rule rule, std::size_t degree) {
  if (rule.fanout < 0 || degree == 0)
    return degree;
  const auto most = static_cast<std::size_t>(rule.fanout);
  return repeats(rule.kind) ? most : std::min(most, degree);
}

/// Checks the list of one row of one edge type.
void check_row(const memory_graph& graph, edge_type_id e,
               const sampling_scheme& scheme, const plain_batch& batch,
               std::int64_t row) {
  const auto& type = graph.edges[e];
  const auto& edges = batch.edge_types[e];
  const auto node = batch.nodes[type.destination][row];
  const auto& list = type.in[node];
  const auto hop = hop_of(batch.found[type.destination], row);
  const auto rule = scheme.rule(static_cast<int>(hop), e);
  const auto ascending = rule.fanout < 0 || !repeats(rule.kind);
  const auto begin = edges.indptr[row];
  const auto end = edges.indptr[row + 1];
  CATCH_REQUIRE(static_cast<std::size_t>(end - begin)
                == expected_count(rule, list.size()));
  for (auto i = begin; i < end; ++i) {
    const auto position = edges.edge_ids[i] - graph.first_edge(e, node);
    CATCH_REQUIRE(position >= 0);
    CATCH_REQUIRE(position < std::ssize(list));
    CATCH_REQUIRE(batch.nodes[type.source].at(edges.sources[i])
                  == list[position]);
    if (ascending && i > begin)
      CATCH_REQUIRE(edges.edge_ids[i] > edges.edge_ids[i - 1]);
    if (scheme.weights && !type.weights.empty())
      CATCH_REQUIRE(edges.weights.at(i) == type.weights[node][position]);
  }
}

} // namespace

CATCH_TEST_CASE("sampled edges are edges of the graph",
                "[partition][sampling]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto scheme = random_scheme(graph, seed);
    const auto seeds = random_seeds(graph, seed);
    const auto batch = sample_plain(whole(graph), scheme, seed, seeds);
    const auto hops = scheme.fanouts.size();
    for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
      const std::set<node_id> distinct{batch.nodes[t].begin(),
                                       batch.nodes[t].end()};
      CATCH_CHECK(distinct.size() == batch.nodes[t].size());
      CATCH_CHECK(batch.found[t].size() == hops + 1);
      CATCH_CHECK(std::is_sorted(batch.found[t].begin(), batch.found[t].end()));
    }
    const auto& target = batch.nodes[graph.target];
    CATCH_CHECK(std::equal(seeds.begin(), seeds.end(), target.begin()));
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& found = batch.found[graph.edges[e].destination];
      const auto rows = hops == 0 ? 0 : found[hops - 1];
      CATCH_REQUIRE(std::ssize(batch.edge_types[e].indptr) == rows + 1);
      for (std::int64_t row = 0; row < rows; ++row)
        check_row(graph, static_cast<edge_type_id>(e), scheme, batch, row);
    }
  }
}

CATCH_TEST_CASE("sampled edges have their weights, if these are wanted and "
                "there are some",
                "[partition][sampling][weights]") {
  std::size_t weighed = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_weights(random_graph(seed), seed);
    auto scheme = random_scheme(graph, seed);
    scheme.weights = seed % 5 != 0;
    const auto seeds = random_seeds(graph, seed);
    const auto batch = sample_plain(whole(graph), scheme, seed, seeds);
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& edges = batch.edge_types[e];
      const auto wanted = scheme.weights && e % 2 == 0;
      CATCH_CHECK(edges.weights.size() == (wanted ? edges.sources.size() : 0));
      weighed += edges.weights.size();
      for (std::int64_t row = 0; row + 1 < std::ssize(edges.indptr); ++row)
        check_row(graph, static_cast<edge_type_id>(e), scheme, batch, row);
    }
    for (part_id parts : {2, 5})
      for (auto wide : {false, true}) {
        CATCH_INFO("parts " << parts << " wide " << wide);
        const auto owner = random_assignment(graph, parts, seed + 1);
        CATCH_REQUIRE(
          sample_plain(cut(graph, parts, owner, {wide}), scheme, seed, seeds)
          == batch);
      }
    // Without edge ids, weights are the same.
    scheme.edge_ids = false;
    const auto plain = sample_plain(whole(graph), scheme, seed, seeds);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      CATCH_CHECK(plain.edge_types[e].weights == batch.edge_types[e].weights);
  }
  CATCH_CHECK(weighed > 1000);
}

CATCH_TEST_CASE("parts do not matter", "[partition][sampling]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto scheme = random_scheme(graph, seed);
    const auto seeds = random_seeds(graph, seed);
    const auto expected = sample_plain(whole(graph), scheme, seed, seeds);
    for (part_id parts : {1, 2, 3, 5, 8})
      for (auto wide : {false, true}) {
        CATCH_INFO("parts " << parts << " wide " << wide);
        const auto owner = random_assignment(graph, parts, seed + 1);
        const auto got =
          sample_plain(cut(graph, parts, owner, {wide}), scheme, seed, seeds);
        CATCH_REQUIRE(got == expected);
      }
    // Whole types, and all seeds, in one part of four.
    assignment lopsided;
    for (const auto& type : graph.nodes)
      lopsided.emplace_back(type.count, lopsided.size() % 2 == 0 ? 1 : 3);
    CATCH_REQUIRE(sample_plain(cut(graph, 4, lopsided), scheme, seed, seeds)
                  == expected);
  }
}

CATCH_TEST_CASE("a batch is sampled around nodes of all types",
                "[partition][sampling]") {
  std::size_t others = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto scheme = random_scheme(graph, seed);
    const auto uncut = whole(graph);
    const auto seeds = random_typed_seeds(graph, uncut, seed);
    const auto sampled = [&](const cut_graph& parts) {
      return sample_plain(parts, scheme, seed,
                          random_typed_seeds(graph, parts, seed));
    };
    const auto batch = sampled(uncut);
    const auto hops = scheme.fanouts.size();
    std::vector<std::int64_t> counts;
    for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
      const auto& own = seeds.nodes[t];
      counts.push_back(std::ssize(own));
      CATCH_REQUIRE(batch.found[t].front() == std::ssize(own));
      CATCH_REQUIRE(std::equal(own.begin(), own.end(), batch.nodes[t].begin()));
      others += std::cmp_equal(t, graph.target) ? 0 : own.size();
    }
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& found = batch.found[graph.edges[e].destination];
      const auto rows = hops == 0 ? 0 : found[hops - 1];
      for (std::int64_t row = 0; row < rows; ++row)
        check_row(graph, static_cast<edge_type_id>(e), scheme, batch, row);
    }
    for (part_id parts : {2, 5})
      CATCH_REQUIRE(
        sampled(cut(graph, parts, random_assignment(graph, parts, seed + 1)))
        == batch);
    const auto bound = bound_of(uncut.graph->info(), scheme, counts);
    CATCH_CHECK(bound.seeds == counts);
    for (std::size_t t = 0; t < graph.nodes.size(); ++t)
      CATCH_CHECK(std::ssize(batch.nodes[t]) <= bound.nodes[t]);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      CATCH_CHECK(std::ssize(batch.edge_types[e].sources) <= bound.edges[e]);
  }
  CATCH_CHECK(others > 300);
}

CATCH_TEST_CASE("large batches do not depend on parts either",
                "[partition][sampling]") {
  memory_graph graph;
  graph.nodes = {{"n", 6000}};
  graph.edges = {{0, "to", 0, {}}};
  random_stream draws{3, 4};
  for (int i = 0; i < 6000; ++i) {
    auto& list = graph.edges[0].in.emplace_back();
    for (auto degree = draws.below(60); degree > 0; --degree)
      list.push_back(draws.below(6000));
  }
  const auto seeds = random_seeds(graph, 3);
  const auto scheme = scheme_of(graph, {15, 10, 5});
  const auto expected = sample_plain(whole(graph), scheme, 3, seeds);
  const auto owner = random_assignment(graph, 5, 9);
  CATCH_CHECK(sample_plain(cut(graph, 5, owner), scheme, 3, seeds) == expected);
  CATCH_CHECK(sample_plain(whole(graph), scheme, 4, seeds) != expected);
}

CATCH_TEST_CASE("bounds hold", "[partition][sampling]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto scheme = random_scheme(graph, seed);
    const auto seeds = random_seeds(graph, seed);
    const auto cut_up = whole(graph);
    const auto batch = sample_plain(cut_up, scheme, seed, seeds);
    const auto bound =
      bound_of(cut_up.graph->info(), scheme, std::ssize(seeds));
    for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
      CATCH_CHECK(std::ssize(batch.nodes[t]) <= bound.nodes[t]);
      if (scheme.hops() > 0)
        CATCH_CHECK(batch.found[t][scheme.hops() - 1] <= bound.expanded[t]);
    }
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      CATCH_CHECK(std::ssize(batch.edge_types[e].sources) <= bound.edges[e]);
  }
}

CATCH_TEST_CASE("the bound of the cycle", "[partition][sampling]") {
  const auto info = whole(cycle(100)).graph->info();
  const auto bound = bound_of(info, scheme_of(cycle(100), {-1, 1}), 3);
  CATCH_CHECK(bound.edges == std::vector<std::int64_t>{3 * 2 + 6 * 1});
  CATCH_CHECK(bound.expanded == std::vector<std::int64_t>{3 + 6});
  CATCH_CHECK(bound.nodes == std::vector<std::int64_t>{3 + 6 + 6});
  // As many as there are, and no overflow.
  const auto widest = bound_of(
    info, scheme_of(cycle(100), {INT32_MAX, INT32_MAX, INT32_MAX}, true), 80);
  CATCH_CHECK(widest.nodes == std::vector<std::int64_t>{100});
}

CATCH_TEST_CASE("slices of a node's sources are its sources",
                "[partition][sampling]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 3};
    const auto graph = with_weights(random_graph(seed), seed);
    const auto cut_in_two = cut(graph, 2, random_assignment(graph, 2, seed),
                                {draws.below(2) == 1, false});
    const auto e = static_cast<edge_type_id>(
      draws.below(static_cast<std::uint32_t>(graph.edges.size())));
    const auto& part = *cut_in_two.shards[draws.below(2)];
    const auto& owned = part.nodes(graph.edges[e].destination);
    for (auto id = owned.begin; id < owned.end; ++id) {
      const std::vector<node_id> destination{id};
      neighbour_request request{seed, 2,          e, {0, random_kind(draws)},
                                true, destination};
      request.rule.fanout = std::array{-1, 0, 1, 3, 7, 33, 50}[draws.below(7)];
      request.weights = e % 2 == 0;
      neighbour_reply whole;
      value_of(sample_neighbours(part, request, whole));
      source_slice slice{1 + draws.below(5), 0};
      std::vector<std::byte> sources;
      std::vector<edge_id> edge_ids;
      std::vector<float> weights;
      do {
        neighbour_reply some;
        value_of(sample_slice(part, request, slice, some));
        CATCH_REQUIRE(list(some.counts) == list(whole.counts));
        CATCH_REQUIRE(std::ssize(some.edge_ids.span()) <= slice.most);
        sources.insert(sources.end(), some.sources.begin(), some.sources.end());
        edge_ids.insert(edge_ids.end(), some.edge_ids.begin(),
                        some.edge_ids.end());
        weights.insert(weights.end(), some.weights.begin(), some.weights.end());
        slice.skip += slice.most;
      } while (slice.skip < whole.counts[0]);
      CATCH_CHECK(sources == list(whole.sources));
      CATCH_CHECK(edge_ids == list(whole.edge_ids));
      CATCH_CHECK(weights == list(whole.weights));
      CATCH_CHECK(weights.size() == (request.weights ? edge_ids.size() : 0));
      neighbour_reply beyond;
      slice.skip = 1000;
      value_of(sample_slice(part, request, slice, beyond));
      CATCH_CHECK(beyond.sources.empty());
    }
  }
}

CATCH_TEST_CASE("a slice is of one node", "[partition][sampling]") {
  const auto graph = whole(cycle(10));
  const std::vector<node_id> ids{1, 2};
  neighbour_reply out;
  neighbour_request request{1, 1, 0, {-1}, false, ids};
  const auto code = [&](std::int64_t most, std::int64_t skip) {
    return error_of(sample_slice(*graph.shards[0], request, {most, skip}, out))
      .code;
  };
  CATCH_CHECK(code(1, 0) == ec::invalid_argument);
  request.destinations = std::span{ids}.first(1);
  CATCH_CHECK(code(-1, 0) == ec::invalid_argument);
  CATCH_CHECK(code(1, -1) == ec::invalid_argument);
}
