#include "partition/sampling/rows/gather.hpp"
#include "partition/sampling/sampling.hpp"
#include "partition/sampling/slices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <random>

// Places of edges, by which their features are fetched.

namespace graphmill::test {

namespace {

/// Each edge has two features: its original id, and half of that.
memory_graph graph_with_features(std::mt19937_64& random) {
  memory_graph out;
  out.nodes = {{"a", 30, 0, {}, {}, {}}, {"b", 20, 0, {}, {}, {}}};
  const std::pair<int, int> ends[]{{0, 0}, {1, 0}, {0, 1}};
  for (const auto& [source, destination] : ends) {
    auto& type = out.edges.emplace_back();
    type.source = source;
    type.name = "e" + std::to_string(out.edges.size());
    type.destination = destination;
    float number = 0;
    const auto with = out.edges.size() != 2; // The second type has none.
    type.feature_width = with ? 2 : 0;
    for (std::int64_t i = 0; i < out.nodes[destination].count; ++i) {
      auto& list = type.in.emplace_back();
      auto& features = type.features.emplace_back();
      for (auto k = random() % 7; k > 0; --k, ++number) {
        list.push_back(
          static_cast<node_id>(random() % out.nodes[source].count));
        if (with)
          features.insert(features.end(), {number, number / 2});
      }
    }
  }
  return out;
}

/// The features of a batch's edges of a type, by the part that owns them.
std::vector<float> features_in(const cut_graph& graph,
                               const sampled_subgraph& batch, edge_type_id type,
                               bool rounded) {
  const auto& info = graph.graph->info().edge_types[type];
  const auto& edges = batch.edges[type];
  const auto width = static_cast<std::size_t>(info.feature_width);
  std::vector<float> out(edges.sources.size() * width);
  for (std::size_t row = 0; row + 1 < edges.indptr.size(); ++row) {
    const auto part = graph.graph->owner(
      info.destination, batch.nodes[info.destination].ids[row]);
    const auto begin = static_cast<std::size_t>(edges.indptr[row]);
    const auto count = static_cast<std::size_t>(edges.indptr[row + 1]) - begin;
    value_of(gather_edge_features(*graph.shards[part], type,
                                  edges.places.span().subspan(begin, count), {},
                                  out.data() + begin * width, rounded));
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("places lead to the features of the edges that were drawn, in "
                "any parts",
                "[sampling][edge_features]") {
  const auto seed = GENERATE(range(1u, 9u));
  const auto parts = GENERATE(1, 2, 5);
  const auto half = GENERATE(false, true);
  CATCH_INFO("seed " << seed << ", parts " << parts << ", half " << half);
  std::mt19937_64 random{seed};
  const auto graph = graph_with_features(random);
  const auto cut_up = cut(graph, parts, random_assignment(graph, parts, seed),
                          {.wide = seed % 2 == 0, .half = half});
  sampling_scheme scheme{{{3, 2, -1}, {-1, 1, 2}}};
  if (seed % 3 == 0)
    scheme.kind = draw_kind::with_replacement;
  scheme.edge_ids = seed % 4 != 0;
  scheme.places = true;
  std::vector<node_id> seeds;
  for (const auto id : {4, 1, 22})
    seeds.push_back(cut_up.to_global[0][id]);
  const auto batch =
    value_of(sample(*cut_up.graph, cut_up.shards, scheme, 77, seeds));
  auto plain = scheme;
  plain.edge_ids = true;
  plain.places = false;
  const auto want =
    value_of(sample(*cut_up.graph, cut_up.shards, plain, 77, seeds));
  for (const edge_type_id type : {0, 1, 2}) {
    const auto& edges = batch.edges[type];
    const auto& ids = want.edges[type].edge_ids;
    CATCH_REQUIRE(edges.sources.size() == ids.size());
    CATCH_CHECK(edges.places.size() == (type == 1 ? 0 : ids.size()));
    if (scheme.edge_ids)
      CATCH_CHECK(std::equal(ids.begin(), ids.end(), edges.edge_ids.begin()));
    if (type == 1)
      continue;
    const auto got = features_in(cut_up, batch, type, false);
    for (std::size_t e = 0; e < ids.size(); ++e) {
      CATCH_CHECK(got[2 * e] == static_cast<float>(ids[e]));
      CATCH_CHECK(got[2 * e + 1] == static_cast<float>(ids[e]) / 2);
    }
    CATCH_CHECK(features_in(cut_up, batch, type, true) == got);
  }
}

CATCH_TEST_CASE("slices report places", "[sampling][edge_features]") {
  std::mt19937_64 random{5};
  const auto graph = graph_with_features(random);
  const auto whole_graph = whole(graph);
  const auto& part = *whole_graph.shards[0];
  const std::vector<node_id> node{7};
  neighbour_request request{1, 1, 0, {-1}, true, node};
  request.places = true;
  neighbour_reply all;
  value_of(sample_neighbours(part, request, all));
  CATCH_REQUIRE(all.places.size() == graph.edges[0].in[7].size());
  for (std::int64_t skip = 0; skip < std::ssize(all.places.span()); ++skip) {
    neighbour_reply one;
    value_of(sample_slice(part, request, {1, skip}, one));
    CATCH_REQUIRE(one.places.size() == 1);
    CATCH_CHECK(one.places[0] == all.places[static_cast<std::size_t>(skip)]);
    CATCH_CHECK(one.edge_ids[0]
                == all.edge_ids[static_cast<std::size_t>(skip)]);
  }
}

CATCH_TEST_CASE("edges are found by their destination and original id",
                "[sampling][edge_features]") {
  std::mt19937_64 random{6};
  const auto graph = graph_with_features(random);
  const auto cut_up = cut(graph, 3, random_assignment(graph, 3, 2));
  for (std::int64_t node = 0; node < 20; ++node) {
    const auto global = cut_up.to_global[1][node];
    const auto part = cut_up.graph->owner(1, global);
    const auto first = graph.first_edge(2, node);
    for (std::size_t k = 0; k < graph.edges[2].in[node].size(); ++k) {
      const auto id = first + static_cast<edge_id>(k);
      edge_id place = -1;
      value_of(
        find_places(*cut_up.shards[part], 2, {&global, 1}, {&id, 1}, &place));
      float row[2];
      value_of(
        gather_edge_features(*cut_up.shards[part], 2, {&place, 1}, {}, row));
      CATCH_CHECK(row[0] == static_cast<float>(id));
    }
    const auto beyond =
      first + static_cast<edge_id>(graph.edges[2].in[node].size());
    edge_id place = -1;
    CATCH_CHECK(
      find_places(*cut_up.shards[part], 2, {&global, 1}, {&beyond, 1}, &place)
        .error()
        .code
      == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("features of edges are refused where there are none",
                "[sampling][edge_features]") {
  std::mt19937_64 random{7};
  const auto graph = graph_with_features(random);
  const auto all = whole(graph);
  const auto& part = *all.shards[0];
  const std::vector<node_id> node{0};
  neighbour_request request{1, 1, 1, {-1}, false, node};
  request.places = true;
  neighbour_reply reply;
  CATCH_CHECK(sample_neighbours(part, request, reply).error().code
              == ec::invalid_argument);
  float row[2];
  const edge_id beyond = part.edges(0).indices.size;
  CATCH_CHECK(gather_edge_features(part, 0, {&beyond, 1}, {}, row).error().code
              == ec::invalid_argument);
  const edge_id first = 0;
  CATCH_CHECK(gather_edge_features(part, 1, {&first, 1}, {}, row).error().code
              == ec::invalid_argument);
}

} // namespace graphmill::test
