#include "partition/dataset/meaning/opposite_type.hpp"
#include "partition/disk/disk_sampling.hpp"
#include "partition/sampling/draws.hpp"
#include "partition/sampling/id_table.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace graphmill::test::subgraphs {

namespace {

constexpr std::uint64_t graphs = 120;

/// The same nodes, all but the seeds found by the first hop.
void check_nodes(const plain_batch& batch, const plain_batch& sampled,
                 int blocks) {
  CATCH_REQUIRE(batch.nodes == sampled.nodes);
  CATCH_REQUIRE(batch.trees == sampled.trees);
  for (std::size_t t = 0; t < batch.nodes.size(); ++t) {
    std::vector<std::int64_t> found(static_cast<std::size_t>(blocks) + 1,
                                    std::ssize(batch.nodes[t]));
    found.front() = sampled.found[t].front();
    CATCH_REQUIRE(batch.found[t] == found);
  }
}

std::int64_t rows_of(const plain_batch& batch, node_type_id type) {
  const auto& found = batch.found[type];
  return found[found.size() - 2];
}

/// All edges of a graph among the nodes of a batch, by going through all.
plain_batch::edges among(const memory_graph& graph, edge_type_id e,
                         const plain_batch& batch,
                         const sampling_scheme& scheme) {
  const auto& type = graph.edges[e];
  plain_batch::edges out;
  out.indptr.push_back(0);
  const auto used = std::ranges::any_of(
    scheme.fanouts, [e](const auto& fanouts) { return fanouts[e] != 0; });
  for (std::int64_t row = 0; row < rows_of(batch, type.destination); ++row) {
    const auto to = batch.nodes[type.destination][row];
    for (std::size_t i = 0; used && i < type.in[to].size(); ++i) {
      const auto& nodes = batch.nodes[type.source];
      const auto at = std::find(nodes.begin(), nodes.end(), type.in[to][i]);
      if (at == nodes.end())
        continue;
      out.sources.push_back(static_cast<local_id>(at - nodes.begin()));
      if (scheme.edge_ids)
        out.edge_ids.push_back(graph.first_edge(e, to)
                               + static_cast<std::int64_t>(i));
      if (scheme.weights && !type.weights.empty())
        out.weights.push_back(type.weights[to][i]);
    }
    out.indptr.push_back(std::ssize(out.sources));
  }
  return out;
}

/// Own edges of each row, and then reverses, but for as many as there are edges
/// from the same source.
plain_batch::edges both_ways(const plain_batch::edges& own,
                             const plain_batch::edges& other, std::int64_t rows,
                             bool weighted) {
  plain_batch::edges out;
  out.indptr.push_back(0);
  const auto copy = [&](const plain_batch::edges& from, std::int64_t edge,
                        local_id source) {
    out.sources.push_back(source);
    if (!from.edge_ids.empty())
      out.edge_ids.push_back(from.edge_ids[edge]);
    if (weighted)
      out.weights.push_back(from.weights.empty() ? 1 : from.weights[edge]);
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<local_id> sampled;
    if (row + 1
        < std::ssize(own.indptr)) // Behind them, rows have no own edges.
      for (auto i = own.indptr[row]; i < own.indptr[row + 1]; ++i) {
        copy(own, i, own.sources[i]);
        sampled.push_back(own.sources[i]);
      }
    for (std::int64_t from = 0; from + 1 < std::ssize(other.indptr); ++from)
      for (auto i = other.indptr[from]; i < other.indptr[from + 1]; ++i) {
        if (other.sources[i] != row)
          continue;
        const auto pair = std::find(sampled.begin(), sampled.end(), from);
        if (pair == sampled.end())
          copy(other, i, static_cast<local_id>(from));
        else
          sampled.erase(pair);
      }
    out.indptr.push_back(std::ssize(out.sources));
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("an induced batch has all edges among its nodes",
                "[partition][sampling][subgraphs]") {
  std::size_t more = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 21};
    const auto graph = with_weights(random_graph(seed), seed);
    auto scheme = random_scheme(graph, draws);
    const auto uncut = whole(graph);
    const auto seeds = random_typed_seeds(graph, uncut, seed);
    const auto sampled = sample_plain(uncut, scheme, seed, seeds);
    scheme.subgraph = subgraph_kind::induced;
    scheme.least_blocks = static_cast<int>(draws.below(3));
    const auto batch = sample_anyhow(uncut, scheme, seed, seeds, draws);
    check_nodes(batch, sampled, scheme.blocks());
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      CATCH_INFO("edge type " << e);
      CATCH_REQUIRE(
        batch.edge_types[e]
        == among(graph, static_cast<edge_type_id>(e), batch, scheme));
      more += batch.edge_types[e].sources.size()
                  > sampled.edge_types[e].sources.size()
                ? 1
                : 0;
    }
    check_bound(uncut, scheme, seeds, batch);
    check_cuts(graph, scheme, seed, draws, batch);
  }
  CATCH_CHECK(more > 100);
}

CATCH_TEST_CASE("an induced batch may have as many hops as any",
                "[partition][sampling][subgraphs]") {
  const auto graph = whole(cycle(6));
  auto scheme = scheme_of(cycle(6), std::vector<std::int32_t>(max_hops, -1));
  scheme.subgraph = subgraph_kind::induced;
  const auto batch = sample_plain(graph, scheme, 5, std::array<node_id, 1>{2});
  CATCH_CHECK(batch.nodes[0].size() == 6);
  CATCH_CHECK(batch.edge_types[0].sources.size() == 12);
}

CATCH_TEST_CASE("an induced batch has none of the edges that it is without",
                "[partition][sampling][subgraphs]") {
  std::size_t gone = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 22};
    const auto graph =
      with_levels(with_weights(random_graph(seed), seed), seed);
    const auto level = static_cast<edge_level>(draws.below(3));
    const auto reduced = reduce(graph, level, 6, seed);
    auto scheme = random_scheme(graph, draws);
    scheme.kind = draw_kind::without_replacement;
    scheme.subgraph = subgraph_kind::induced;
    scheme.edge_ids = true;
    scheme.least_blocks = 2;
    const auto left = whole(reduced.seen.left);
    const auto expected = reduced.seen.renumbered(sample_anyhow(
      left, scheme, seed, random_typed_seeds(graph, left, seed), draws));
    scheme.level = level;
    for (const part_id count : {1, 2, 4}) {
      const auto parts = random_cut(graph, count, seed, draws);
      auto seeds = random_typed_seeds(graph, parts, seed);
      seeds.excluded = reduced.excluded.excluded(graph, parts);
      CATCH_REQUIRE(sample_anyhow(parts, scheme, seed, seeds, draws)
                    == expected);
    }
    gone += reduced.excluded.count();
  }
  CATCH_CHECK(gone > 500);
}

CATCH_TEST_CASE("a bidirectional batch has each sampled edge both ways",
                "[partition][sampling][subgraphs]") {
  std::size_t added = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 23};
    const auto graph =
      with_reverses(with_weights(random_graph(seed), seed), true);
    auto scheme = random_scheme(graph, draws);
    const auto uncut = whole(graph);
    const auto seeds = random_typed_seeds(graph, uncut, seed);
    const auto sampled = sample_plain(uncut, scheme, seed, seeds);
    scheme.subgraph = subgraph_kind::bidirectional;
    scheme.opposites = opposites_of(uncut.graph->info());
    scheme.least_blocks = static_cast<int>(draws.below(3));
    const auto batch = sample_anyhow(uncut, scheme, seed, seeds, draws);
    check_nodes(batch, sampled, scheme.blocks());
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      CATCH_INFO("edge type " << e);
      const auto& type = graph.edges[e];
      const auto other = static_cast<std::size_t>(scheme.opposites[e]);
      const auto expected =
        both_ways(sampled.edge_types[e], sampled.edge_types[other],
                  rows_of(batch, type.destination),
                  scheme.weights && !type.weights.empty());
      CATCH_REQUIRE(batch.edge_types[e] == expected);
      added += expected.sources.size() - sampled.edge_types[e].sources.size();
    }
    check_bound(uncut, scheme, seeds, batch);
    check_cuts(graph, scheme, seed, draws, batch);
  }
  CATCH_CHECK(added > 1000);
}

CATCH_TEST_CASE("reverses of the cycle, on paper",
                "[partition][sampling][subgraphs]") {
  const auto graph = whole(cycle(6));
  auto scheme = scheme_of(cycle(6), {1, 1});
  scheme.subgraph = subgraph_kind::bidirectional;
  scheme.opposites = {0};
  const std::vector<node_id> seeds{2};
  const auto batch = sample_plain(graph, scheme, 5, seeds);
  // Seed 2 sees 1 or 3, which sees 2 or of the next one.
  const auto& edges = batch.edge_types[0];
  const auto nodes = std::ssize(batch.nodes[0]);
  CATCH_CHECK(batch.found[0] == std::vector<std::int64_t>{1, nodes, nodes});
  CATCH_REQUIRE(std::ssize(edges.indptr) == nodes + 1);
  CATCH_CHECK(std::ssize(edges.sources) == 2 * (nodes - 1));
  for (std::int64_t row = 0; row < nodes; ++row)
    for (auto i = edges.indptr[row]; i < edges.indptr[row + 1]; ++i) {
      const auto back = edges.sources[i];
      CATCH_CHECK(std::count(edges.sources.begin() + edges.indptr[back],
                             edges.sources.begin() + edges.indptr[back + 1],
                             row)
                  == 1);
    }
}

CATCH_TEST_CASE("parallel edges sampled both ways are each other's reverses",
                "[partition][sampling][subgraphs]") {
  memory_graph graph;
  graph.nodes = {{"node", 2}};
  graph.edges = {{0, "to", 0, {{1}, {0, 0, 0}}}};
  graph.edges[0].weights = {{9}, {1, 2, 3}};
  auto scheme = scheme_of(graph, {-1, -1});
  scheme.weights = true;
  scheme.subgraph = subgraph_kind::bidirectional;
  scheme.opposites = {0};
  const auto batch =
    sample_plain(whole(graph), scheme, 1, std::vector<node_id>{0});
  const auto& edges = batch.edge_types[0];
  CATCH_CHECK(edges.indptr == std::vector<std::int64_t>{0, 3, 6});
  CATCH_CHECK(edges.sources == std::vector<local_id>{1, 1, 1, 0, 0, 0});
  CATCH_CHECK(edges.weights == std::vector<float>{9, 2, 3, 1, 2, 3});
}

CATCH_TEST_CASE("types have the opposites that importers name",
                "[partition][sampling][subgraphs]") {
  memory_graph graph;
  graph.nodes = {{"paper", 2}, {"author", 2}};
  const auto lists = std::vector<std::vector<node_id>>(2);
  graph.edges = {{0, "cites", 0, lists},      {1, "writes", 0, lists},
                 {0, "rev_writes", 1, lists}, {0, "cites", 1, lists},
                 {1, "rev_cites", 1, lists},  {0, "like", 0, lists},
                 {0, "rev_like", 0, lists}};
  const auto parts = whole(graph);
  const auto& info = parts.graph->info();
  using type = std::optional<edge_type_id>;
  CATCH_CHECK(opposite_type(info, 0) == type{0});
  CATCH_CHECK(opposite_type(info, 1) == type{2});
  CATCH_CHECK(opposite_type(info, 2) == type{1});
  CATCH_CHECK(opposite_type(info, 3) == type{});
  CATCH_CHECK(opposite_type(info, 4) == type{4});
  CATCH_CHECK(opposite_type(info, 5) == type{6});
  CATCH_CHECK(opposite_type(info, 6) == type{5});
}

CATCH_TEST_CASE("what no subgraph can be made of is refused",
                "[partition][sampling][subgraphs]") {
  const auto parts = whole(cycle(6));
  const auto refused = [&](const sampling_scheme& scheme) {
    batch_sampler sampler{*parts.graph, scheme, 1, nullptr};
    const auto seeds = target_seeds(parts.graph->info(), {});
    return error_of(sampler.start(seeds)).message;
  };
  auto scheme = scheme_of(cycle(6), {1});
  scheme.subgraph = subgraph_kind::induced;
  scheme.time = {true, false, false, 0, true};
  CATCH_CHECK(refused(scheme).find("trees of their own") != std::string::npos);
  scheme.time = {};
  scheme.subgraph = subgraph_kind::bidirectional;
  CATCH_CHECK(refused(scheme).find("need a type") != std::string::npos);
  scheme.opposites = {0};
  scheme.places = true;
  CATCH_CHECK(refused(scheme).find("no features") != std::string::npos);
}

CATCH_TEST_CASE(
  "answers among some nodes keep to their limit, and foreign ones "
  "to the nodes",
  "[partition][sampling][subgraphs]") {
  const auto graph = cycle(6000);
  const auto parts = whole(graph);
  std::vector<node_id> all(6000);
  std::iota(all.begin(), all.end(), node_id{0});
  pod_vector<node_id> ids;
  id_table numbers{6000, nullptr};
  std::vector<local_id> locals(3000);
  numbers.number(std::span<const node_id>{all}.first(3000), locals.data(), ids);
  const node_subset among{0, &ids, &numbers};
  neighbour_request request{1, 1, 0, {-1}, true, all};
  request.among = &among;
  for (const auto from_disk : {false, true}) {
    neighbour_reply reply;
    const auto answer = [&] {
      value_of(from_disk ? sample_from_disk(*parts.shards[0], request, reply)
                         : sample_neighbours(*parts.shards[0], request, reply));
    };
    request.most = 6000;
    answer();
    CATCH_CHECK(!reply.too_large);
    CATCH_CHECK(reply.edge_ids.size() == 6000);
    request.most = 5999;
    answer();
    CATCH_CHECK(reply.too_large);
    CATCH_CHECK(reply.sources.empty());
    CATCH_CHECK(reply.edge_ids.empty());
  }
  request.rule = {1};
  neighbour_reply reply;
  CATCH_CHECK(error_of(sample_neighbours(*parts.shards[0], request, reply)).code
              == ec::invalid_argument);
  // A source beyond the batch.
  auto scheme = scheme_of(graph, {1}, false, false);
  scheme.subgraph = subgraph_kind::induced;
  batch_sampler sampler{*parts.graph, scheme, 1, nullptr};
  value_of(sampler.start(
    target_seeds(parts.graph->info(), std::array<node_id, 1>{7})));
  bool closing = false;
  while (!sampler.done()) {
    for (const auto& asked : sampler.requests()) {
      neighbour_reply got;
      value_of(sample_neighbours(*parts.shards[0], asked.request, got));
      closing = asked.request.among != nullptr;
      if (closing)
        reinterpret_cast<std::int32_t*>(got.sources.data())[0] = 5999;
      value_of(sampler.accept(asked.slot, std::move(got)));
    }
    if (closing)
      break;
    value_of(sampler.finish_hop());
  }
  CATCH_CHECK(error_of(sampler.finish_hop()).code == ec::invalid_data);
}

} // namespace graphmill::test::subgraphs
