#include "messages/base/random.hpp"
#include "partition/disk/disk_sampling.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/feed/batch_form.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <numeric>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// 1,000 nodes with one of 300 classes, or with any of 300 labels.
dataset_info info_with_labels(label_kind kind) {
  dataset_info info;
  info.node_types.resize(1);
  info.node_types[0] = {"node", 1000, 4, dtype::float32, 300, {}, {25, 6, 7}};
  info.node_types[0].labels = kind;
  info.edge_types.resize(1);
  info.edge_types[0] = {0, "links", 0, 5000, 10, dtype::int32};
  return info;
}

std::uint64_t bound_bytes(label_kind kind, std::int64_t seeds) {
  const auto info = info_with_labels(kind);
  const sampling_scheme scheme{.fanouts = {{2}}};
  return bytes_of(bound_of(info, scheme, seeds), info, {}, scheme);
}

/// Of two seeds, of which the second has an in-edge from a third node.
std::uint64_t sampled_bytes(label_kind kind) {
  sampled_subgraph graph;
  graph.hops = 1;
  graph.nodes.resize(1);
  graph.nodes[0].ids.resize(3);
  graph.nodes[0].found = {2, 3};
  graph.edges.resize(1);
  graph.edges[0].indptr.resize(3);
  graph.edges[0].sources.resize(1);
  return bytes_of(graph, info_with_labels(kind), {});
}

/// 2^13 nodes with 16 in-edges each: arrays of all edges fill their blocks.
memory_graph full_blocks() {
  constexpr std::int64_t nodes = 1 << 13;
  memory_graph graph;
  graph.nodes = {{"node", nodes}};
  graph.edges = {{0, "to", 0, {}}};
  auto& type = graph.edges[0];
  type.feature_width = 1;
  random_stream draws{7, 7};
  for (std::int64_t to = 0; to < nodes; ++to) {
    auto& sources = type.in.emplace_back();
    for (std::int64_t i = 0; i < 16; ++i)
      sources.push_back(draws.below(nodes));
    type.weights.emplace_back(16, 0.5F);
    type.features.emplace_back(16, 1.0F);
    type.times.emplace_back(16, 3);
  }
  return graph;
}

/// Samples as actors do: out of memory or from disk, in one piece or in three.
/// @returns the most bytes that the pool gave out.
std::uint64_t sampled_in(const cut_graph& data, const sampling_scheme& scheme,
                         const batch_seeds& seeds, bool from_disk,
                         std::size_t pieces, sampled_subgraph& batch) {
  const auto pool = buffer_pool::make(std::size_t{1} << 30);
  const auto& graph = data.graph;
  batch_sampler sampler{*graph, scheme, 5, pool};
  value_of(sampler.start(seeds));
  while (!sampler.done()) {
    for (const auto& asked : sampler.requests()) {
      std::vector<neighbour_reply> replies;
      const auto total = asked.request.destinations.size();
      for (std::size_t p = 0; p < pieces; ++p) {
        const auto from = total * p / pieces;
        const auto some =
          asked.request.piece(from, total * (p + 1) / pieces - from);
        auto& reply = replies.emplace_back(neighbour_reply::in(pool));
        value_of(from_disk ? sample_from_disk(*data.shards[0], some, reply)
                           : sample_neighbours(*data.shards[0], some, reply));
      }
      value_of(sampler.accept(asked.slot, join(std::move(replies))));
    }
    value_of(sampler.finish_hop());
  }
  batch = sampler.take();
  return pool->peak_bytes();
}

} // namespace

CATCH_TEST_CASE("sampling takes no more memory than its bound",
                "[pipelines][flow][subgraphs]") {
  const auto wide = GENERATE(false, true);
  const auto data = whole(full_blocks(), {wide, false});
  const auto& info = data.graph->info();
  std::vector<node_id> all(static_cast<std::size_t>(info.node_types[0].count));
  std::iota(all.begin(), all.end(), node_id{0});
  std::uint64_t closest = 0;
  for (unsigned form = 0; form < 128; ++form) {
    const auto has = [form](unsigned bit) { return (form >> bit & 1) != 0; };
    sampling_scheme scheme{{{has(6) ? 3 : -1}}};
    scheme.subgraph =
      has(0) ? subgraph_kind::induced : subgraph_kind::directional;
    scheme.least_blocks = 2;
    scheme.weights = has(1);
    scheme.places = has(2);
    scheme.ages = has(3);
    scheme.edge_ids = has(4);
    scheme.time.used = has(3);
    // All nodes, or a third of them: then far fewer edges are found.
    const auto third = has(5);
    auto seeds =
      target_seeds(info, std::span{all}.first(all.size() / (third ? 3 : 1)));
    if (has(3))
      seeds.until = {4};
    batch_needs needs;
    needs.weights = scheme.weights;
    needs.ages = scheme.ages;
    for (const auto from_disk : {false, true})
      for (const std::size_t pieces : {1u, 3u}) {
        CATCH_INFO("form " << form << ", wide " << wide << ", from disk "
                           << from_disk << ", pieces " << pieces);
        sampled_subgraph batch;
        const auto taken =
          sampled_in(data, scheme, seeds, from_disk, pieces, batch);
        // No larger than what it holds: lists of its rows, and their edges.
        subgraph_bound bound;
        bound.nodes = {std::ssize(batch.nodes[0].ids.span())};
        bound.seeds = {batch.nodes[0].found.front()};
        bound.expanded = {std::ssize(batch.edges[0].indptr.span()) - 1};
        bound.edges = {has(0) ? bound.expanded[0] * 16
                              : std::ssize(batch.edges[0].sources.span())};
        const auto planned = bytes_of(bound, info, needs, scheme);
        // Counts of lists are no edges, and these nodes have no rows. Unless
        // they are full, blocks are up to a quarter larger than their arrays.
        const auto most = planned + 8 * std::uint64_t(bound.nodes[0]);
        CATCH_CHECK(4 * taken <= (third || has(6) ? 5 : 4) * most);
        closest = std::max(closest, 100 * taken / planned);
      }
  }
  CATCH_CHECK(closest > 80);
}

CATCH_TEST_CASE("a batch holds its ids, rows and edges", "[pipelines][flow]") {
  // 3 ids of 8 bytes and rows of 16, 3 ends of lists of 8 and an edge of 4.
  CATCH_CHECK(sampled_bytes(label_kind::classes) == 3 * 24 + 3 * 8 + 4);
  // 5 seeds find 10 nodes by 10 edges, which take 12 bytes more to be sampled.
  CATCH_CHECK(bound_bytes(label_kind::classes, 5)
              == 15 * 24 + 6 * 8 + 10 * (4 + 12));
}

CATCH_TEST_CASE("a batch holds a byte for each label that a seed may have",
                "[pipelines][flow]") {
  CATCH_CHECK(sampled_bytes(label_kind::multi_label)
              == sampled_bytes(label_kind::classes) + 2 * 300);
  CATCH_CHECK(bound_bytes(label_kind::multi_label, 5)
              == bound_bytes(label_kind::classes, 5) + 5 * 300);
  // There are no more seeds than nodes.
  CATCH_CHECK(bound_bytes(label_kind::multi_label, 2000)
              == bound_bytes(label_kind::classes, 2000) + 1000 * 300);
}

CATCH_TEST_CASE("a batch holds a number for each weight of an edge",
                "[pipelines][flow][weights]") {
  auto info = info_with_labels(label_kind::classes);
  info.edge_types[0].weighted = true;
  sampling_scheme scheme{.fanouts = {{2}, {2}}};
  batch_needs needs;
  const auto bound = bound_of(info, scheme, 5);
  const auto edges = std::uint64_t(bound.edges[0]);
  CATCH_REQUIRE(edges == 10 + 20);
  const auto without = bytes_of(bound, info, needs, scheme);
  scheme.weights = needs.weights = true;
  // In the CSR, in the transposed one of layer 2, and while they are sampled.
  CATCH_CHECK(bytes_of(bound, info, needs, scheme) == without + edges * 3 * 4);
  needs.in_weights = true;
  CATCH_CHECK(bytes_of(bound, info, needs, scheme)
              == without + edges * 3 * 4 + std::uint64_t(bound.nodes[0]) * 4);
  // Merged with a type that has none, they are held again, for all edges.
  info.edge_types.push_back({0, "likes", 0, 5000, 10, dtype::int32});
  needs.in_weights = false;
  for (auto& fanouts : scheme.fanouts)
    fanouts.push_back(2);
  const auto two = bound_of(info, scheme, 5);
  const auto weighted = std::uint64_t(two.edges[0]);
  const auto all = weighted + std::uint64_t(two.edges[1]);
  const auto merged = bytes_of(two, info, needs, scheme);
  needs.weights = false;
  CATCH_CHECK(merged
              == bytes_of(two, info, needs, scheme)
                   + 4 * (2 * weighted + 2 * all));
}

CATCH_TEST_CASE("a sampled batch holds the weights that came",
                "[pipelines][flow][weights]") {
  sampled_subgraph graph;
  graph.hops = 2;
  graph.nodes.resize(1);
  graph.nodes[0].ids.resize(3);
  graph.nodes[0].found = {2, 3, 3};
  graph.edges.resize(1);
  graph.edges[0].indptr.resize(4);
  graph.edges[0].sources.resize(3);
  const auto info = info_with_labels(label_kind::classes);
  const auto without = bytes_of(graph, info, {});
  graph.edges[0].weights.resize(3);
  batch_needs needs;
  needs.weights = true;
  CATCH_CHECK(bytes_of(graph, info, needs) == without + 2 * 3 * 4);
}

CATCH_TEST_CASE("ages of edges are counted", "[pipelines][flow][times]") {
  auto info = info_with_labels(label_kind::classes);
  sampled_subgraph graph;
  graph.hops = 1;
  graph.nodes.resize(1);
  graph.nodes[0].found = {1, 1};
  graph.edges.resize(1);
  graph.edges[0].indptr.resize(2);
  graph.edges[0].sources.resize(3);
  batch_needs needs;
  needs.ages = true;
  const auto without = bytes_of(graph, info, needs);
  info.edge_types[0].timed = true;
  CATCH_CHECK(bytes_of(graph, info, needs) == without + 3 * 4);
  sampling_scheme scheme{{{2}}};
  const auto bound = bound_of(info, scheme, 5);
  const auto bare = bytes_of(bound, info, needs, scheme);
  scheme.ages = true; // In the batch, in an answer, and places ahead of it.
  CATCH_CHECK(bytes_of(bound, info, needs, scheme)
              == bare + std::uint64_t(bound.edges[0]) * (4 + 8));
}

CATCH_TEST_CASE("features of edges are counted where they lie twice",
                "[pipelines][flow][edge_features]") {
  auto info = info_with_labels(label_kind::classes);
  info.edge_types.push_back({0, "likes", 0, 5000, 10, dtype::int32});
  for (auto& type : info.edge_types)
    type.feature_width = 3;
  batch_form form;
  form.merged = true;
  const auto plain = needs_of(form, info).edge_bytes;
  form.edge_features = true;
  CATCH_CHECK(needs_of(form, info).edge_bytes == plain + 3 * 4);
}

CATCH_TEST_CASE("edges are listed by part where there are several",
                "[pipelines][flow][edge_features]") {
  auto info = info_with_labels(label_kind::classes);
  sampled_subgraph graph;
  graph.edges.resize(1);
  graph.edges[0].sources.resize(7);
  batch_needs needs;
  needs.edge_features = true;
  CATCH_CHECK(edge_list_bytes(graph, info, needs, 3) == 0);
  info.edge_types[0].feature_width = 5;
  CATCH_CHECK(edge_list_bytes(graph, info, needs, 3) == 7 * 12);
  CATCH_CHECK(edge_list_bytes(graph, info, needs, 1) == 0);
  needs.edge_features = false;
  CATCH_CHECK(edge_list_bytes(graph, info, needs, 3) == 0);
}

CATCH_TEST_CASE("rows that are edges have their features",
                "[pipelines][flow][edge_features]") {
  seed_batch rows;
  rows.columns = 2;
  rows.locals.resize(6);
  batch_needs needs;
  const auto without = bytes_of(rows, needs);
  needs.row_features = 5;
  CATCH_CHECK(bytes_of(rows, needs) == without + 3 * 5 * 4);
}
