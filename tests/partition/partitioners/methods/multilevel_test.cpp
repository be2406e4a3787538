#include "messages/base/random.hpp"
#include "partition/importers/wordnet/wordnet.hpp"
#include "partition/partitioners/graph/undirected_view.hpp"
#include "partition/partitioners/methods/assign.hpp"
#include "partition/partitioners/methods/clustering.hpp"
#include "partition/partitioners/methods/contraction.hpp"
#include "partition/partitioners/methods/refinement.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/partition/partitioners/graphs.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <map>
#include <numeric>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

monitor unwatched() {
  return {{}, nullptr, 0};
}

/// A dataset with one edge per pair, from its first node to its second.
dataset write_pairs(const fs::path& folder, vertex_id nodes,
                    const pair_list& pairs) {
  fs::create_directory(folder);
  dataset_info info;
  info.name = "pairs";
  info.provenance = "written by hand";
  info.node_types = {{.name = "node", .count = nodes}};
  info.edge_types = {{.source = 0, .name = "to", .destination = 0}};
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  for (const auto& [u, v] : pairs)
    value_of(writer.append_edges(0, std::span{&u, 1}, std::span{&v, 1}));
  value_of(writer.finish());
  return value_of(dataset::open(folder));
}

/// `count` cliques of `size` vertices, each joined to the next one by an edge.
pair_list ring_of_cliques(vertex_id count, vertex_id size) {
  pair_list pairs;
  for (vertex_id c = 0; c < count; ++c) {
    for (auto u = c * size; u < (c + 1) * size; ++u)
      for (auto v = u + 1; v < (c + 1) * size; ++v)
        pairs.emplace_back(u, v);
    pairs.emplace_back(c * size, (c + 1) % count * size + 1);
  }
  return pairs;
}

pair_list random_pairs(std::uint64_t seed, vertex_id nodes, int count) {
  random_stream draws{mix64(seed), 0};
  const auto pick = [&] {
    const auto most = static_cast<std::uint32_t>(nodes);
    return std::min(draws.below(most), draws.below(most)); // Unequal degrees.
  };
  pair_list pairs;
  while (std::ssize(pairs) < count)
    if (const auto u = pick(), v = pick(); u != v)
      pairs.emplace_back(u, v);
  return pairs;
}

clustering clusters_of(const adjacency& graph, std::int64_t most) {
  auto watch = unwatched();
  const std::vector<std::int64_t> weights(graph.size(), 1);
  return value_of(find_clusters(
    graph, {.weights = weights, .most_weight = most, .key = 7}, watch));
}

std::int64_t cut_of(const graph_view& graph,
                    const std::vector<part_id>& assignment) {
  std::int64_t cut = 0;
  for (vertex_id v = 0; v < graph.vertex_count(); ++v)
    graph.for_each_in_neighbour(
      v, [&](vertex_id u) { cut += assignment[u] != assignment[v]; });
  return cut;
}

assigned_parts assign(const dataset& data, const fs::path& folder,
                      part_id parts, coarsening coarsen,
                      std::uint64_t seed = 0) {
  auto watch = unwatched();
  const auto graph = value_of(graph_view::open(data, watch));
  return value_of(assign_parts(
    graph, graph.loads(),
    {.parts = parts, .coarsen = coarsen, .seed = seed, .folder = folder},
    watch));
}

} // namespace

CATCH_TEST_CASE("cliques become clusters if there is room",
                "[partition][multilevel]") {
  const auto graph = adjacency_of(48, ring_of_cliques(6, 8));
  const auto whole = clusters_of(graph, 8);
  CATCH_CHECK(whole.count == 6);
  for (vertex_id v = 0; v < graph.size(); ++v)
    CATCH_CHECK(whole.of[v] == v / 8);

  auto watch = unwatched();
  const auto ring = value_of(contract(graph, whole, 1000, 0, watch));
  CATCH_CHECK(ring.begin == std::vector<std::int64_t>{0, 2, 4, 6, 8, 10, 12});
  CATCH_CHECK(ring.vertices
              == std::vector<std::int32_t>{1, 5, 0, 2, 1, 3, 2, 4, 3, 5, 0, 4});
  CATCH_CHECK(ring.weights == std::vector<std::int32_t>(12, 1));
}

CATCH_TEST_CASE("clusters keep to their size", "[partition][multilevel]") {
  for (std::uint64_t seed : {1, 2, 3})
    for (std::int64_t most : {1, 3, 20, 1000}) {
      CATCH_INFO("seed " << seed << ", at most " << most);
      const auto graph = adjacency_of(500, random_pairs(seed, 500, 2000));
      const auto found = clusters_of(graph, most);
      std::vector<std::int64_t> sizes(found.count);
      cluster_id next = 0;
      for (auto cluster : found.of) {
        CATCH_REQUIRE(cluster <= next); // Numbered by first vertex.
        next = std::max(next, cluster + 1);
        ++sizes[cluster];
      }
      CATCH_CHECK(next == found.count);
      CATCH_CHECK(*std::max_element(sizes.begin(), sizes.end()) <= most);
      CATCH_CHECK(*std::min_element(sizes.begin(), sizes.end()) >= 1);
      CATCH_CHECK(found.of == clusters_of(graph, most).of);
      // Vertices without edges do not stay alone.
      if (most == 20)
        CATCH_CHECK(found.count < 300);
    }
}

CATCH_TEST_CASE("contraction adds up edges, or samples them",
                "[partition][multilevel]") {
  const auto graph = adjacency_of(400, random_pairs(4, 400, 8000));
  const auto found = clusters_of(graph, 4);
  auto watch = unwatched();
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> wanted;
  std::int64_t entries = 0;
  for (vertex_id v = 0; v < graph.size(); ++v)
    graph.for_each_neighbour(v, [&](vertex_id u, std::int64_t weight) {
      if (found.of[u] != found.of[v]) {
        wanted[{found.of[v], found.of[u]}] += weight;
        ++entries;
      }
    });
  const auto pairs_of = [](const adjacency& of) {
    decltype(wanted) pairs;
    for (vertex_id v = 0; v < of.size(); ++v)
      of.for_each_neighbour(v, [&](vertex_id u, std::int64_t weight) {
        CATCH_CHECK(pairs.emplace(std::pair{v, u}, weight).second);
      });
    return pairs;
  };
  CATCH_CHECK(pairs_of(value_of(contract(graph, found, 1 << 20, 0, watch)))
              == wanted);

  const auto some = value_of(contract(graph, found, entries / 4, 9, watch));
  CATCH_CHECK(some.entries() < entries * 3 / 10);
  CATCH_CHECK(some.entries() > entries / 10);
  const auto sampled = pairs_of(some);
  for (const auto& [pair, weight] : sampled) {
    CATCH_CHECK(sampled.at({pair.second, pair.first}) == weight);
    CATCH_CHECK(weight <= wanted.at(pair));
  }
}

CATCH_TEST_CASE("refining spares edges within the caps",
                "[partition][multilevel]") {
  const auto graph = adjacency_of(60, two_cliques(30));
  const auto loads = loads_of(graph);
  std::vector<cluster_id> own(60);
  std::iota(own.begin(), own.end(), 0);
  const cluster_loads singles{loads, own, 60};
  std::vector<part_id> assignment(60);
  for (vertex_id v = 0; v < 60; ++v)
    assignment[v] = v < 29 || v == 59 ? 0 : 1; // 29 and 59 changed places.
  basic_part_loads<cluster_loads> held{singles, 2, assignment};
  auto watch = unwatched();
  value_of(refine(graph, held, assignment, watch));
  CATCH_CHECK(cut_of(graph, assignment) == 1);
  CATCH_CHECK(held.excess() == 0);

  for (std::uint64_t seed : {1, 2, 3}) {
    const auto any = adjacency_of(300, random_pairs(seed, 300, 1500));
    const auto weights = loads_of(any, {1, 2, 3, 5, 8});
    std::vector<cluster_id> each(300);
    std::iota(each.begin(), each.end(), 0);
    const cluster_loads rows{weights, each, 300};
    std::vector<part_id> parts(300);
    for (vertex_id v = 0; v < 300; ++v)
      parts[v] = static_cast<part_id>(v % 3);
    const auto before = cut_of(any, parts);
    basic_part_loads<cluster_loads> now{rows, 3, parts};
    const auto excess = now.excess();
    value_of(refine(any, now, parts, watch));
    CATCH_CHECK(cut_of(any, parts) < before);
    CATCH_CHECK(now.excess() <= excess);
  }
}

CATCH_TEST_CASE("edges are seen from both ends", "[partition][multilevel]") {
  temp_folder folder;
  fs::create_directory(folder / "data");
  write_random(folder / "data", 11);
  const auto data = value_of(dataset::open(folder / "data"));
  auto watch = unwatched();
  const auto graph = value_of(graph_view::open(data, watch));
  std::vector<std::vector<vertex_id>> wanted(graph.vertex_count());
  std::vector<std::int64_t> degrees(graph.vertex_count());
  for (vertex_id v = 0; v < graph.vertex_count(); ++v)
    graph.for_each_in_neighbour(v, [&](vertex_id u) {
      ++degrees[u];
      ++degrees[v];
      if (u == v)
        return;
      wanted[u].push_back(v);
      wanted[v].push_back(u);
    });
  fs::create_directory(folder / "work");
  // With room for all edges, and for a handful.
  for (std::uint64_t memory : {1 << 20, 64}) {
    const auto view =
      value_of(undirected_view::make(graph, folder / "work", memory, watch));
    CATCH_CHECK(fs::is_empty(folder / "work"));
    for (vertex_id v = 0; v < view.size(); ++v) {
      std::vector<vertex_id> found;
      view.for_each_neighbour(
        v, [&](vertex_id u, std::int64_t) { found.push_back(u); });
      std::sort(found.begin(), found.end());
      std::sort(wanted[v].begin(), wanted[v].end());
      CATCH_REQUIRE(found == wanted[v]);
      CATCH_CHECK(view.degree(v) == degrees[v]);
    }
  }
}

CATCH_TEST_CASE("a coarsened METIS takes two cliques apart",
                "[partition][multilevel]") {
  temp_folder folder;
  const auto data = write_pairs(folder / "data", 120, two_cliques(60));
  for (std::uint64_t seed : {0, 1, 2}) {
    const auto done = assign(data, folder.path(), 2, coarsening::always, seed);
    const auto& owner = done.assignment;
    for (vertex_id v = 0; v < 120; ++v)
      CATCH_CHECK(owner[v] == owner[v / 60 * 60]);
    CATCH_CHECK(owner[0] != owner[60]);
    CATCH_CHECK(
      owner
      == assign(data, folder.path(), 2, coarsening::always, seed).assignment);
  }
}

CATCH_TEST_CASE("components need not be cut", "[partition][multilevel]") {
  temp_folder folder;
  pair_list pairs;
  for (vertex_id c = 0; c < 100; ++c)
    for (vertex_id i = 0; i < 3; ++i)
      pairs.emplace_back(4 * c + i, 4 * c + i + 1);
  const auto data = write_pairs(folder / "data", 400, pairs);
  auto watch = unwatched();
  const auto graph = value_of(graph_view::open(data, watch));
  const auto done = assign(data, folder.path(), 4, coarsening::always);
  CATCH_CHECK(cut_of(graph, done.assignment) == 0);
  for (part_id p = 0; p < 4; ++p)
    CATCH_CHECK(std::count(done.assignment.begin(), done.assignment.end(), p)
                <= 105);
}

CATCH_TEST_CASE("a coarsened METIS cuts WordNet as METIS does",
                "[partition][multilevel]") {
  if (!fs::exists(wordnet_options{}.source / "data.noun"))
    return; // The package wordnet-base is not there.
  temp_folder folder;
  fs::create_directory(folder / "data");
  value_of(import_wordnet({.feature_width = 1}, folder / "data"));
  const auto data = value_of(dataset::open(folder / "data"));
  auto watch = unwatched();
  const auto graph = value_of(graph_view::open(data, watch));
  const auto loads = graph.loads();
  for (part_id parts : {4, 8}) {
    const auto whole = assign(data, folder.path(), parts, coarsening::never);
    const auto coarse = assign(data, folder.path(), parts, coarsening::always);
    const auto ratio = static_cast<double>(cut_of(graph, coarse.assignment))
                       / static_cast<double>(cut_of(graph, whole.assignment));
    CATCH_INFO(parts << " parts: cut " << ratio << " of METIS's");
    CATCH_CHECK(ratio < 1.10);
    CATCH_CHECK(part_loads{loads, parts, coarse.assignment}.excess() == 0);
  }
}
