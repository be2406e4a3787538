#include "partition/sampling/draws.hpp"
#include "partition/sampling/walks.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace graphmill::test::walks {

namespace {

constexpr std::uint64_t graphs = 120;

/// What the asker draws, by the definition.
random_stream own_draws(std::uint64_t key, std::int64_t token, int step) {
  return {mix64(key ^ 0x70696e5f77616c6bull), static_cast<std::uint64_t>(token),
          static_cast<std::uint32_t>(step)};
}

/// The position that an owner draws for a walk.
std::uint32_t drawn(std::uint64_t key, std::optional<std::int64_t> token,
                    node_id at, int step, edge_type_id type,
                    std::size_t degree) {
  if (token)
    key = mix64(key ^ mix64(static_cast<std::uint64_t>(*token) + 1));
  return random_stream{key, static_cast<std::uint64_t>(at),
                       draw_middle(step, type)}
    .below(static_cast<std::uint32_t>(degree));
}

/// Where a walk goes from a node, and by which edge.
struct visit {
  int step = 0;
  int walk = 0;
  node_id node = 0;
};

/// All visits of the walks from a node, one walk after the other.
std::vector<visit> visits_from(const memory_graph& graph,
                               const sampling_scheme& scheme, std::uint64_t key,
                               edge_type_id type, node_id start) {
  const auto& way = graph.edges[type];
  const auto alternates = way.source != way.destination;
  std::vector<visit> out;
  if (way.in[start].empty())
    return out;
  random_stream first{key, static_cast<std::uint64_t>(start),
                      draw_middle(1, type)};
  for (int w = 0; w < scheme.walk.walks; ++w) {
    const auto position =
      first.below(static_cast<std::uint32_t>(way.in[start].size()));
    const auto token =
      (graph.first_edge(type, start) + position) * scheme.walk.walks + w;
    auto node = way.in[start][position];
    for (int step = 1;; ++step) {
      if ((!alternates || step % 2 == 1) && (alternates || node != start))
        out.push_back({step, w, node});
      if (step == scheme.walk.length
          || own_draws(key, token, step + 1).next() < scheme.walk.stop)
        break;
      const auto turns = alternates && step % 2 == 1;
      const auto along = turns ? scheme.opposites[type] : type;
      const auto& list = graph.edges[along].in[node];
      if (list.empty())
        break;
      node = list[drawn(key, token, node, step + 1, along, list.size())];
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.step < b.step;
  });
  return out;
}

/// The nodes that were visited most, with their counts.
std::vector<std::pair<node_id, float>>
most_visited(const std::vector<visit>& visits, std::int32_t fanout) {
  std::vector<std::pair<node_id, float>> out; // In the order of first visits.
  for (const auto& one : visits) {
    const auto known =
      std::find_if(out.begin(), out.end(), [&one](const auto& counted) {
        return counted.first == one.node;
      });
    if (known == out.end())
      out.emplace_back(one.node, 1.0F);
    else
      ++known->second;
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  if (fanout >= 0 && std::cmp_less(fanout, out.size()))
    out.resize(static_cast<std::size_t>(fanout));
  return out;
}

/// The number of a node in a list, at whose end it is put if it is new.
local_id number_in(std::vector<node_id>& nodes, node_id id) {
  const auto at = std::find(nodes.begin(), nodes.end(), id);
  const auto number = static_cast<local_id>(at - nodes.begin());
  if (at == nodes.end())
    nodes.push_back(id);
  return number;
}

plain_batch empty_batch(const memory_graph& graph,
                        const std::vector<std::vector<node_id>>& seeds) {
  plain_batch out;
  out.nodes = seeds;
  out.edge_types.resize(graph.edges.size());
  out.trees.resize(graph.nodes.size());
  for (auto& edges : out.edge_types)
    edges.indptr.push_back(0);
  for (const auto& nodes : out.nodes)
    out.found.push_back({std::ssize(nodes)});
  return out;
}

plain_batch by_visits(const memory_graph& graph, const sampling_scheme& scheme,
                      std::uint64_t key,
                      const std::vector<std::vector<node_id>>& seeds) {
  auto out = empty_batch(graph, seeds);
  std::vector<std::size_t> begins(graph.nodes.size());
  for (int hop = 0; hop < scheme.hops(); ++hop) {
    std::vector<std::size_t> ends;
    for (const auto& nodes : out.nodes)
      ends.push_back(nodes.size());
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& type = graph.edges[e];
      auto& edges = out.edge_types[e];
      const auto fanout = scheme.fanouts[hop][e];
      for (auto row = begins[type.destination]; row < ends[type.destination];
           ++row) {
        const auto start = out.nodes[type.destination][row];
        if (fanout != 0)
          for (const auto& [node, count] :
               most_visited(visits_from(graph, scheme, key,
                                        static_cast<edge_type_id>(e), start),
                            fanout)) {
            edges.sources.push_back(number_in(out.nodes[type.source], node));
            if (scheme.weights)
              edges.weights.push_back(count);
          }
        edges.indptr.push_back(std::ssize(edges.sources));
      }
    }
    begins = ends;
    for (std::size_t t = 0; t < out.nodes.size(); ++t)
      out.found[t].push_back(std::ssize(out.nodes[t]));
  }
  return out;
}

/// The nodes that a walk from each seed finds, and then all edges among them.
plain_batch by_roots(const memory_graph& graph, const sampling_scheme& scheme,
                     std::uint64_t key,
                     const std::vector<std::vector<node_id>>& seeds) {
  struct found {
    int step = 0;
    std::size_t root = 0;
    node_type_id type = 0;
    node_id node = 0;
  };
  std::vector<found> visits;
  std::size_t root = 0;
  for (std::size_t t = 0; t < seeds.size(); ++t)
    for (auto node : seeds[t]) {
      auto type = static_cast<node_type_id>(t);
      std::optional<std::int64_t> token;
      for (int step = 1; step <= scheme.walk.length; ++step) {
        struct offered {
          std::size_t type = 0;
          edge_id edge = 0;
          node_id source = 0;
        };
        std::vector<offered> offers;
        for (std::size_t e = 0; e < graph.edges.size(); ++e) {
          const auto& way = graph.edges[e];
          if (way.destination != type
              || !scheme.samples(static_cast<edge_type_id>(e))
              || way.in[node].empty())
            continue;
          const auto position =
            drawn(key, token, node, step, static_cast<edge_type_id>(e),
                  way.in[node].size());
          offers.push_back(
            {e, graph.first_edge(static_cast<edge_type_id>(e), node) + position,
             way.in[node][position]});
        }
        if (offers.empty())
          break;
        const auto types = std::ssize(graph.edges);
        const auto token_of = [types](const offered& of) {
          return of.edge * types + static_cast<std::int64_t>(of.type);
        };
        const auto& chosen =
          offers[own_draws(key, token.value_or(token_of(offers.front())), step)
                   .below(static_cast<std::uint32_t>(offers.size()))];
        if (!token)
          token = token_of(chosen);
        type = graph.edges[chosen.type].source;
        node = chosen.source;
        visits.push_back({step, root, type, node});
      }
      ++root;
    }
  std::stable_sort(
    visits.begin(), visits.end(),
    [](const auto& a, const auto& b) { return a.step < b.step; });
  auto out = empty_batch(graph, seeds);
  for (const auto& one : visits)
    number_in(out.nodes[one.type], one.node);
  return out;
}

std::vector<std::vector<node_id>> originals_of(const batch_seeds& seeds,
                                               const cut_graph& parts) {
  std::vector<std::vector<node_id>> out;
  for (std::size_t t = 0; t < seeds.nodes.size(); ++t) {
    auto& ids = out.emplace_back();
    for (const auto id : seeds.nodes[t])
      ids.push_back(parts.original[t][id]);
  }
  return out;
}

walk_rule random_rule(random_stream& draws) {
  walk_rule out;
  out.walks = static_cast<std::int32_t>(1 + draws.below(40));
  out.length = static_cast<std::int32_t>(1 + draws.below(6));
  out.stop = draws.below(3) == 0 ? 0 : draws.next();
  return out;
}

} // namespace

CATCH_TEST_CASE("neighbours are those that walks visit most",
                "[partition][sampling][walks]") {
  std::size_t edges = 0;
  std::size_t far = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 31};
    const auto graph = with_reverses(random_graph(seed));
    auto scheme = scheme_of(graph, {}, false, false);
    for (auto hops = 1 + draws.below(3); hops > 0; --hops) {
      auto& fanouts = scheme.fanouts.emplace_back();
      for (std::size_t e = 0; e < graph.edges.size(); ++e)
        fanouts.push_back(std::array{-1, 0, 1, 2, 3, 7}[draws.below(6)]);
    }
    scheme.method = sampling_method::pinsage;
    scheme.walk = random_rule(draws);
    scheme.weights = draws.below(3) != 0;
    const auto uncut = whole(graph);
    scheme.opposites = opposites_of(uncut.graph->info());
    const auto seeds = random_typed_seeds(graph, uncut, seed);
    const auto batch = sample_anyhow(uncut, scheme, seed, seeds, draws);
    CATCH_REQUIRE(
      batch == by_visits(graph, scheme, seed, originals_of(seeds, uncut)));
    for (const auto& type : batch.edge_types)
      edges += type.sources.size();
    far += scheme.walk.length > 2 ? 1 : 0;
    if (scheme.samples(0))
      check_bound(uncut, scheme, seeds, batch);
    check_cuts(graph, scheme, seed, draws, batch);
  }
  CATCH_CHECK(edges > 5000);
  CATCH_CHECK(far > 40);
}

CATCH_TEST_CASE("walks do not take edges that a batch is without",
                "[partition][sampling][walks]") {
  std::size_t gone = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 32};
    const auto graph = with_reverses(random_graph(seed));
    const auto thinned = thin_out(graph, seed);
    auto scheme = scheme_of(graph, {3, 3}, false, false);
    scheme.method =
      seed % 2 == 0 ? sampling_method::pinsage : sampling_method::saint;
    if (scheme.method == sampling_method::saint)
      scheme.subgraph = subgraph_kind::induced;
    // The tokens of walks are edges, which have other ids in the graph without
    // some: of one step, walks have none.
    scheme.walk = {9, 1, 0};
    scheme.weights = true;
    const auto left = whole(thinned.left);
    scheme.opposites = opposites_of(left.graph->info());
    const auto expected = sample_anyhow(
      left, scheme, seed, random_typed_seeds(graph, left, seed), draws);
    const auto cut_up = cut(graph, 3, random_assignment(graph, 3, seed));
    auto seeds = random_typed_seeds(graph, cut_up, seed);
    seeds.excluded = thinned.excluded(graph, cut_up);
    const auto batch = sample_anyhow(cut_up, scheme, seed, seeds, draws);
    if (scheme.method == sampling_method::pinsage || graph.edges.size() == 1)
      CATCH_REQUIRE(batch == expected);
    gone += thinned.count();
    // Of many steps, none takes what is gone.
    scheme.method = sampling_method::pinsage;
    scheme.subgraph = subgraph_kind::directional;
    scheme.walk = {20, 4, 0};
    const auto far = sample_anyhow(cut_up, scheme, seed, seeds, draws);
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& type = thinned.left.edges[e];
      if (type.source != type.destination)
        continue;
      for (std::size_t row = 0; row + 1 < far.edge_types[e].indptr.size();
           ++row) {
        std::set<node_id> reached{far.nodes[type.destination][row]};
        for (int step = 0; step < 4; ++step)
          for (const auto node : std::set<node_id>{reached})
            reached.insert(type.in[node].begin(), type.in[node].end());
        for (auto i = far.edge_types[e].indptr[row];
             i < far.edge_types[e].indptr[row + 1]; ++i)
          CATCH_CHECK(reached.contains(
            far.nodes[type.source][far.edge_types[e].sources[i]]));
      }
    }
  }
  CATCH_CHECK(gone > 500);
}

CATCH_TEST_CASE("visits of walks on a cycle have the chances of theory",
                "[partition][sampling][walks]") {
  const auto graph = whole(cycle(20));
  auto scheme = scheme_of(cycle(20), {-1}, false, false);
  scheme.method = sampling_method::pinsage;
  scheme.weights = true;
  scheme.opposites = {0};
  scheme.walk = {10, 3,
                 std::uint64_t{1} << 30}; // It ends with a chance of 1/4.
  std::map<node_id, double> visits;
  constexpr std::uint64_t keys = 3000;
  const std::vector<node_id> seeds{5};
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto batch = sample_plain(graph, scheme, mix64(key), seeds);
    const auto& edges = batch.edge_types[0];
    for (std::size_t i = 0; i < edges.sources.size(); ++i)
      visits[batch.nodes[0][edges.sources[i]]] += edges.weights[i];
    CATCH_CHECK(std::is_sorted(edges.weights.rbegin(), edges.weights.rend()));
  }
  const double walks = 10 * keys;
  CATCH_CHECK(visits.size() == 6);
  // Steps lead one further in either direction; step 2 back with 1/2.
  for (const node_id side : {-1, 1}) {
    check_share(visits[5 + 2 * side], 0.75 / 4, walks);
    check_share(visits[5 + 3 * side], 0.75 * 0.75 / 8, walks);
    // Step 1, and perhaps step 3: at most one of 4 deviations more.
    const auto mean = 0.5 + 0.75 * 0.75 * 3 / 8;
    CATCH_CHECK(std::abs(visits[5 + side] - mean * walks)
                <= 4 * std::sqrt(walks));
  }
}

CATCH_TEST_CASE("batches of a walk from each seed have all edges among nodes",
                "[partition][sampling][walks]") {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 33};
    const auto graph = with_weights(random_graph(seed), seed);
    auto scheme = scheme_of(graph, {-1, -1});
    scheme.weights = draws.below(2) == 0;
    scheme.method = sampling_method::saint;
    scheme.subgraph = subgraph_kind::induced;
    scheme.walk = {1, static_cast<std::int32_t>(1 + draws.below(5)), 0};
    for (auto& hop : scheme.fanouts)
      if (seed % 3 == 0)
        hop.back() = 0;
    const auto uncut = whole(graph);
    const auto seeds = random_typed_seeds(graph, uncut, seed);
    const auto batch = sample_anyhow(uncut, scheme, seed, seeds, draws);
    const auto expected =
      by_roots(graph, scheme, seed, originals_of(seeds, uncut));
    CATCH_REQUIRE(batch.nodes == expected.nodes);
    for (std::size_t t = 0; t < batch.nodes.size(); ++t) {
      const auto all = std::ssize(batch.nodes[t]);
      CATCH_CHECK(
        batch.found[t]
        == std::vector<std::int64_t>{std::ssize(seeds.nodes[t]), all, all});
      found += batch.nodes[t].size() - seeds.nodes[t].size();
    }
    check_induced(graph, scheme, batch);
    check_bound(uncut, scheme, seeds, batch);
    check_cuts(graph, scheme, seed, draws, batch);
  }
  CATCH_CHECK(found > 500);
}

CATCH_TEST_CASE(
  "a walk takes edge types, and then in-edges, with equal chances",
  "[partition][sampling][walks]") {
  memory_graph graph;
  graph.nodes = {{"n", 5}};
  const std::vector<std::vector<node_id>> none(5);
  graph.edges = {{0, "a", 0, none}, {0, "b", 0, none}, {0, "c", 0, none}};
  graph.edges[0].in[0] = {1};
  graph.edges[1].in[0] = {2, 3, 4};
  const auto parts = whole(graph);
  auto scheme = scheme_of(graph, {-1}, false, false);
  scheme.method = sampling_method::saint;
  scheme.subgraph = subgraph_kind::induced;
  std::map<node_id, double> counts;
  constexpr std::uint64_t keys = 20000;
  const std::vector<node_id> seeds{0};
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto batch = sample_plain(parts, scheme, mix64(key), seeds);
    CATCH_REQUIRE(batch.nodes[0].size() == 2);
    ++counts[batch.nodes[0][1]];
  }
  check_share(counts[1], 0.5, keys);
  for (const node_id id : {2, 3, 4})
    check_share(counts[id], 0.5 / 3, keys);
}

CATCH_TEST_CASE("walks of several ranks are those of one",
                "[partition][sampling][walks]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_reverses(random_graph(seed));
    const auto parts = whole(graph);
    auto scheme = scheme_of(graph, {3}, false, false);
    scheme.method = sampling_method::pinsage;
    scheme.weights = true;
    scheme.walk = {12, 3, std::uint64_t{1} << 31};
    scheme.opposites = opposites_of(parts.graph->info());
    const auto seeds = random_seeds(graph, seed);
    const auto all = sample_plain(parts, scheme, seed, seeds);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const auto one = sample_plain(parts, scheme, seed, std::vector{seeds[i]});
      for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const auto& type = graph.edges[e];
        if (type.destination != graph.target)
          continue;
        std::vector<std::pair<node_id, float>> own;
        std::vector<std::pair<node_id, float>> among;
        const auto& a = one.edge_types[e];
        for (std::size_t k = 0; k < a.sources.size(); ++k)
          own.emplace_back(one.nodes[type.source][a.sources[k]], a.weights[k]);
        const auto& b = all.edge_types[e];
        for (auto k = b.indptr[i]; k < b.indptr[i + 1]; ++k)
          among.emplace_back(all.nodes[type.source][b.sources[k]],
                             b.weights[k]);
        CATCH_CHECK(own == among);
      }
    }
  }
}

CATCH_TEST_CASE("walks that make no sense are refused",
                "[partition][sampling][walks]") {
  memory_graph graph;
  graph.nodes = {{"a", 3}, {"b", 3}};
  graph.edges = {{0, "to", 1, std::vector<std::vector<node_id>>(3)}};
  const auto parts = whole(graph);
  const auto said = [&](const sampling_scheme& scheme) {
    batch_sampler sampler{*parts.graph, scheme, 1, nullptr};
    return error_of(sampler.start(target_seeds(parts.graph->info(), {})))
      .message;
  };
  auto scheme = scheme_of(graph, {2}, false, false);
  scheme.method = sampling_method::pinsage;
  for (const edge_type_id back : {-1, 0}) {
    scheme.opposites = {back};
    CATCH_CHECK_THAT(said(scheme), contains("need a type back"));
  }
  scheme.method = sampling_method::saint;
  CATCH_CHECK_THAT(said(scheme), contains("sampler.subgraph is induced"));
  scheme.subgraph = subgraph_kind::induced;
  scheme.walk.length = 0;
  CATCH_CHECK_THAT(said(scheme), contains("are no walks"));
  scheme.walk.length = 2;
  scheme.method = sampling_method::hgt;
  CATCH_CHECK_THAT(said(scheme), contains("needs a budget"));
  scheme.time = {true, false, true};
  CATCH_CHECK_THAT(said(scheme), contains("no latest edges"));
}

} // namespace graphmill::test::walks
