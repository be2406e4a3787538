#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/feed/batch_form.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;

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

} // namespace

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
