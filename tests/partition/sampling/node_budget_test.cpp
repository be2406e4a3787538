#include "partition/sampling/draws.hpp"
#include "partition/sampling/keyed_draws.hpp"
#include "partition/sampling/node_budget.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace graphmill::test::budgets {

namespace {

constexpr std::uint64_t graphs = 120;

sampling_scheme hgt_scheme(const memory_graph& graph,
                           std::vector<std::vector<std::int32_t>> budgets) {
  auto out = scheme_of(graph, std::vector<std::int32_t>(
                                budgets.size(), node_budget::most_proposals));
  out.method = sampling_method::hgt;
  out.subgraph = subgraph_kind::induced;
  out.budgets = std::move(budgets);
  return out;
}

/// What is known of a node that may be taken.
struct candidate {
  std::uint64_t sum = 0;
  std::pair<std::size_t, edge_id> first; ///< Edge type, and edge.
};

/// The nodes that each hop takes, by the definition: per hop and type.
std::vector<std::vector<std::set<node_id>>>
taken_by(const memory_graph& graph, const sampling_scheme& scheme,
         std::uint64_t key, const std::vector<std::vector<node_id>>& seeds) {
  std::vector<std::vector<std::set<node_id>>> out;
  std::vector<std::set<node_id>> known;
  for (const auto& ids : seeds)
    known.emplace_back(ids.begin(), ids.end());
  auto fresh = known;
  std::vector<std::map<node_id, candidate>> candidates(graph.nodes.size());
  for (int hop = 0; hop < scheme.hops(); ++hop) {
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& type = graph.edges[e];
      for (const auto to : fresh[type.destination]) {
        const auto& list = type.in[to];
        const auto most = static_cast<std::size_t>(node_budget::most_proposals);
        std::vector<std::uint32_t> positions(std::min(list.size(), most));
        std::iota(positions.begin(), positions.end(), 0U);
        if (list.size() > most)
          draw_positions({key, static_cast<std::uint64_t>(to),
                          draw_middle(hop + 1, static_cast<edge_type_id>(e))},
                         static_cast<std::uint32_t>(list.size()),
                         draw_kind::without_replacement, positions);
        for (const auto position : positions) {
          const std::pair edge{
            e, graph.first_edge(static_cast<edge_type_id>(e), to) + position};
          auto [at, fresh_one] = candidates[type.source].try_emplace(
            list[position], candidate{0, edge});
          at->second.sum += (std::uint64_t{1} << 32) / positions.size();
          at->second.first = std::min(at->second.first, edge);
        }
      }
    }
    auto& taken = out.emplace_back(graph.nodes.size());
    for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
      std::vector<std::pair<double, node_id>> order;
      for (const auto& [id, about] : candidates[t]) {
        if (known[t].contains(id))
          continue;
        const auto words = philox4x32(
          counter_of(
            static_cast<std::uint64_t>(about.first.second),
            draw_middle(hop + 1, static_cast<edge_type_id>(about.first.first)),
            0),
          mix64(key ^ 0x6867745f6e6f6465ull));
        const auto sum = static_cast<double>(about.sum);
        order.emplace_back(static_cast<double>(minus_log2(
                             std::uint64_t{words[0]} << 32 | words[1]))
                             / (sum * sum),
                           id);
      }
      std::sort(order.begin(), order.end());
      for (std::size_t i = 0;
           i < order.size()
           && std::cmp_less(i,
                            scheme.budgets[static_cast<std::size_t>(hop)][t]);
           ++i)
        taken[t].insert(order[i].second);
    }
    fresh = taken;
    for (std::size_t t = 0; t < graph.nodes.size(); ++t)
      known[t].insert(taken[t].begin(), taken[t].end());
  }
  return out;
}

/// What a node budget takes of nodes that propose as they are told.
struct proposal {
  edge_type_id type = 0;
  std::vector<node_id> sources;
  std::vector<edge_id> edges;
};

std::vector<node_id> taken(const std::vector<proposal>& proposals,
                           std::int64_t count, std::uint64_t key) {
  node_budget budget{100, nullptr};
  for (const auto& one : proposals)
    budget.propose(one.type, one.sources, one.edges);
  return budget.take(count, key, 1);
}

} // namespace

CATCH_TEST_CASE("a hop takes as many nodes of each type as its budget says",
                "[partition][sampling][budgets]") {
  std::size_t found = 0;
  std::size_t left = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 41};
    const auto graph = with_weights(random_graph(seed), seed);
    std::vector<std::vector<std::int32_t>> budgets(1 + draws.below(3));
    for (auto& hop : budgets)
      for (std::size_t t = 0; t < graph.nodes.size(); ++t)
        hop.push_back(static_cast<std::int32_t>(draws.below(7)));
    auto scheme = hgt_scheme(graph, budgets);
    scheme.weights = draws.below(2) == 0;
    scheme.edge_ids = draws.below(2) == 0;
    const auto uncut = whole(graph);
    const auto seeds = random_typed_seeds(graph, uncut, seed);
    const auto batch = sample_anyhow(uncut, scheme, seed, seeds, draws);
    // A whole graph has its own ids.
    const auto expected = taken_by(graph, scheme, seed, seeds.nodes);
    for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
      auto at = seeds.nodes[t].size();
      CATCH_REQUIRE(std::equal(seeds.nodes[t].begin(), seeds.nodes[t].end(),
                               batch.nodes[t].begin()));
      for (const auto& hop : expected) {
        CATCH_REQUIRE(at + hop[t].size() <= batch.nodes[t].size());
        const auto begin =
          batch.nodes[t].begin() + static_cast<std::ptrdiff_t>(at);
        CATCH_REQUIRE(
          std::set<node_id>(begin,
                            begin + static_cast<std::ptrdiff_t>(hop[t].size()))
          == hop[t]);
        at += hop[t].size();
        found += hop[t].size();
      }
      CATCH_CHECK(at == batch.nodes[t].size());
      left += at < static_cast<std::size_t>(graph.nodes[t].count) ? 1 : 0;
    }
    check_induced(graph, scheme, batch);
    check_bound(uncut, scheme, seeds, batch);
    check_cuts(graph, scheme, seed, draws, batch);
    // Seeds in another order give the same nodes.
    auto reversed = seeds;
    for (auto& ids : reversed.nodes)
      std::reverse(ids.begin(), ids.end());
    const auto other = sample_anyhow(uncut, scheme, seed, reversed, draws);
    for (std::size_t t = 0; t < graph.nodes.size(); ++t)
      CATCH_CHECK(
        std::set<node_id>(other.nodes[t].begin(), other.nodes[t].end())
        == std::set<node_id>(batch.nodes[t].begin(), batch.nodes[t].end()));
  }
  CATCH_CHECK(found > 500);
  CATCH_CHECK(left > 50);
}

CATCH_TEST_CASE("some of the in-edges of a long list propose",
                "[partition][sampling][budgets]") {
  memory_graph graph;
  graph.nodes = {{"n", 3000}};
  graph.edges = {{0, "to", 0, std::vector<std::vector<node_id>>(3000)}};
  for (node_id id = 1; id < 2000; ++id)
    graph.edges[0].in[0].push_back(id);
  const auto scheme = hgt_scheme(graph, {{600}, {5}});
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<node_id> seeds{0, 2500};
    const auto expected = taken_by(graph, scheme, seed, {seeds});
    CATCH_CHECK(expected[0][0].size() == 520);
    for (part_id parts : {1, 3}) {
      const auto cut_up = cut(graph, parts, random_assignment(graph, parts, 2));
      const auto batch = sample_plain(cut_up, scheme, seed, seeds);
      CATCH_CHECK(
        std::set<node_id>(batch.nodes[0].begin() + 2, batch.nodes[0].end())
        == expected[0][0]);
      CATCH_CHECK(batch.edge_types[0].sources.size() == 520);
    }
  }
}

CATCH_TEST_CASE("nodes are taken by the squares of what they are wanted",
                "[partition][sampling][budgets]") {
  // A node with one source wants it with 1, one with four each with 1/4.
  const std::vector<proposal> proposals{
    {0, {1}, {10}}, {0, {1, 2, 3, 4}, {11, 12, 13, 14}}, {1, {2}, {3}}};
  const std::map<node_id, double> sums{
    {1, 1.25}, {2, 1.25}, {3, 0.25}, {4, 0.25}};
  double squares = 0;
  for (const auto& [id, sum] : sums)
    squares += sum * sum;
  std::map<node_id, double> once;
  std::map<std::pair<node_id, node_id>, double> twice;
  constexpr std::uint64_t keys = 40000;
  for (std::uint64_t key = 0; key < keys; ++key) {
    ++once[taken(proposals, 1, mix64(key)).at(0)];
    auto two = taken(proposals, 2, mix64(key));
    std::sort(two.begin(), two.end());
    ++twice[{two.at(0), two.at(1)}];
  }
  for (const auto& [a, sum] : sums) {
    const auto first = sum * sum / squares;
    check_share(once[a], first, keys);
    for (const auto& [b, other] : sums)
      if (a < b) {
        const auto second = other * other / squares;
        check_share(
          twice[{a, b}],
          first * second / (1 - first) + first * second / (1 - second), keys);
      }
  }
}

CATCH_TEST_CASE("the order of proposals does not matter",
                "[partition][sampling][budgets]") {
  const std::vector<proposal> proposals{{0, {1, 7}, {10, 11}},
                                        {0, {7, 2, 3, 1}, {2, 12, 13, 14}},
                                        {1, {2}, {3}},
                                        {1, {5, 6, 7}, {20, 21, 22}}};
  auto turned = proposals;
  std::reverse(turned.begin(), turned.end());
  for (std::uint64_t key = 0; key < 200; ++key) {
    auto a = taken(proposals, 3, key);
    auto b = taken(turned, 3, key);
    CATCH_CHECK(a.size() == 3);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    CATCH_CHECK(a == b);
  }
}

CATCH_TEST_CASE("nodes that are held or taken are not taken again",
                "[partition][sampling][budgets]") {
  node_budget budget{100, nullptr};
  budget.hold(std::array<node_id, 2>{4, 5});
  budget.propose(0, std::array<node_id, 4>{3, 4, 5, 6},
                 std::array<edge_id, 4>{0, 1, 2, 3});
  CATCH_CHECK(budget.take(9, 1, 1) == std::vector<node_id>{3, 6});
  budget.propose(0, std::array<node_id, 2>{3, 9}, std::array<edge_id, 2>{7, 8});
  CATCH_CHECK(budget.take(9, 1, 2) == std::vector<node_id>{9});
  CATCH_CHECK(budget.take(9, 1, 3).empty());
}

} // namespace graphmill::test::budgets
