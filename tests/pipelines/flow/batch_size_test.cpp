#include "pipelines/flow/batch_size.hpp"
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
