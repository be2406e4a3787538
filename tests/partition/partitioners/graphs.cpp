#include "tests/partition/partitioners/graphs.hpp"

#include "messages/base/random.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <numeric>

namespace graphmill::test {

adjacency adjacency_of(vertex_id vertices, const pair_list& pairs) {
  // Flat, so that little freed memory is left for those who are to have none.
  std::vector<std::pair<std::int32_t, std::int32_t>> both;
  both.reserve(2 * pairs.size());
  for (const auto& [u, v] : pairs) {
    both.emplace_back(u, v);
    both.emplace_back(v, u);
  }
  std::sort(both.begin(), both.end());
  adjacency out;
  out.begin.resize(vertices + 1);
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (i > 0 && both[i] == both[i - 1]) {
      ++out.weights.back();
      continue;
    }
    out.vertices.push_back(both[i].second);
    out.weights.push_back(1);
    ++out.begin[both[i].first + 1];
  }
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  return out;
}

pair_list path_of(vertex_id n) {
  pair_list pairs;
  for (vertex_id v = 0; v + 1 < n; ++v)
    pairs.emplace_back(v, v + 1);
  return pairs;
}

pair_list two_cliques(vertex_id n) {
  pair_list pairs{{0, n}};
  for (vertex_id first : {vertex_id{0}, n})
    for (auto u = first; u < first + n; ++u)
      for (auto v = u + 1; v < first + n; ++v)
        pairs.emplace_back(u, v);
  return pairs;
}

vertex_loads loads_of(const adjacency& graph, std::vector<vertex_id> seeds) {
  std::vector<std::uint8_t> is_seed(graph.size());
  for (auto v : seeds)
    is_seed[v] = 1;
  std::vector<std::int64_t> in_edges(graph.size());
  for (vertex_id v = 0; v < graph.size(); ++v)
    in_edges[v] = std::accumulate(graph.weights.begin() + graph.begin[v],
                                  graph.weights.begin() + graph.begin[v + 1],
                                  std::int64_t{0});
  return {{"node"}, {0, graph.size()}, is_seed, in_edges};
}

std::int64_t cut_of(const adjacency& graph,
                    const std::vector<part_id>& assignment) {
  std::int64_t twice = 0;
  for (vertex_id v = 0; v < graph.size(); ++v)
    for (auto i = graph.begin[v]; i < graph.begin[v + 1]; ++i)
      if (assignment[v] != assignment[graph.vertices[i]])
        twice += graph.weights[i];
  return twice / 2;
}

namespace {

/// Node 0 is a hub, the last one is left alone.
node_id pick(random_stream& draws, std::int64_t count) {
  if (count == 1 || draws.below(10) == 0)
    return 0;
  return draws.below(static_cast<std::uint32_t>(count - 1));
}

void add_edges(dataset_writer& writer, edge_type_id type, random_stream& draws,
               std::int64_t sources, std::int64_t destinations,
               std::int64_t edges) {
  std::vector<node_id> from;
  std::vector<node_id> to;
  for (std::int64_t i = 0; i < edges && sources > 0 && destinations > 0; ++i) {
    from.push_back(pick(draws, sources));
    to.push_back(pick(draws, destinations));
  }
  value_of(writer.append_edges(type, from, to));
}

dataset_info info_of(random_sizes sizes) {
  dataset_info info;
  info.name = "random";
  info.provenance = "drawn at random";
  info.node_types = {{.name = "paper",
                      .count = sizes.papers,
                      .feature_width = 3,
                      .class_count = 4},
                     {.name = "author",
                      .count = sizes.authors,
                      .feature_width = 2,
                      .feature_type = dtype::float16},
                     {.name = "venue", .count = sizes.venues}};
  info.edge_types = {{.source = 0, .name = "cites", .destination = 0},
                     {.source = 1, .name = "writes", .destination = 0},
                     {.source = 0, .name = "by", .destination = 1},
                     {.source = 2, .name = "prints", .destination = 0},
                     {.source = 0, .name = "in", .destination = 2}};
  return info;
}

/// Seeds in an order of their own, the splits after one another in a shuffled
/// list of all papers.
void add_splits(dataset_writer& writer, random_stream& draws,
                random_sizes sizes) {
  std::vector<node_id> papers(sizes.papers);
  std::iota(papers.begin(), papers.end(), node_id{0});
  for (auto i = papers.size(); i > 1; --i)
    std::swap(papers[i - 1],
              papers[draws.below(static_cast<std::uint32_t>(i))]);
  const auto train = std::min(sizes.train, sizes.papers);
  const auto val = std::min<std::int64_t>(20, sizes.papers - train);
  const std::span nodes{papers};
  value_of(writer.set_split(0, split::train, nodes.first(train)));
  value_of(writer.set_split(0, split::validation, nodes.subspan(train, val)));
}

} // namespace

dataset_info write_random(const std::filesystem::path& folder,
                          std::uint64_t seed, random_sizes sizes) {
  auto writer = value_of(dataset_writer::create(folder, info_of(sizes), {}));
  random_stream draws{mix64(seed), 0};
  const auto edges = sizes.papers * sizes.edges_per_paper / 3;
  add_edges(writer, 0, draws, sizes.papers, sizes.papers, edges);
  add_edges(writer, 1, draws, sizes.authors, sizes.papers, edges);
  add_edges(writer, 2, draws, sizes.papers, sizes.authors, edges);
  add_edges(writer, 3, draws, sizes.venues, sizes.papers, sizes.papers);
  add_edges(writer, 4, draws, sizes.papers, sizes.venues, sizes.papers);
  for (node_type_id type : {0, 1}) {
    std::vector<float> values(type == 0 ? sizes.papers * 3 : sizes.authors * 2);
    for (auto& value : values)
      value = draws.uniform();
    value_of(writer.append_features(type, values));
  }
  std::vector<std::int64_t> labels(sizes.papers);
  for (auto& label : labels)
    label = draws.below(4);
  value_of(writer.set_labels(0, labels));
  add_splits(writer, draws, sizes);
  return value_of(writer.finish());
}

} // namespace graphmill::test
