#include "tests/partition/sampling/support.hpp"

#include "messages/base/random.hpp"

#include <fmt/format.h>

namespace graphmill::test {

plain_batch to_plain(const sampled_subgraph& batch, const cut_graph& graph) {
  plain_batch out;
  for (std::size_t t = 0; t < batch.nodes.size(); ++t) {
    auto& ids = out.nodes.emplace_back();
    for (auto id : batch.nodes[t].ids)
      ids.push_back(graph.original[t][id]);
    out.found.push_back(batch.nodes[t].found);
  }
  for (const auto& edges : batch.edges)
    out.edge_types.push_back({list(edges.indptr), list(edges.sources),
                              list(edges.edge_ids), list(edges.weights)});
  return out;
}

plain_batch sample_plain(const cut_graph& graph, const sampling_scheme& scheme,
                         std::uint64_t key, std::span<const node_id> seeds) {
  std::vector<node_id> global;
  const auto target = graph.graph->info().target;
  for (auto id : seeds)
    global.push_back(graph.to_global[target][id]);
  return to_plain(
    value_of(sample(*graph.graph, graph.shards, scheme, key, global)), graph);
}

sampling_scheme scheme_of(const memory_graph& graph,
                          std::vector<std::int32_t> fanouts, bool replace,
                          bool edge_ids) {
  sampling_scheme scheme;
  for (auto fanout : fanouts)
    scheme.fanouts.emplace_back(graph.edges.size(), fanout);
  scheme.kind =
    replace ? draw_kind::with_replacement : draw_kind::without_replacement;
  scheme.edge_ids = edge_ids;
  return scheme;
}

memory_graph random_graph(std::uint64_t seed, random_graph_options opts) {
  random_stream draws{stream_key(seed, purpose::generate, 0, 0), 0};
  memory_graph graph;
  const auto types = 1 + draws.below(3);
  const auto most = static_cast<std::uint32_t>(opts.most_nodes);
  for (std::uint32_t t = 0; t < types; ++t) {
    const auto none = t != 0 && draws.below(5) == 0;
    graph.nodes.push_back(
      {fmt::format("n{}", t), none ? 0 : 1 + draws.below(most)});
  }
  const auto relations = 1 + draws.below(5);
  for (std::uint32_t e = 0; e < relations; ++e) {
    memory_graph::edge_type type;
    type.source = static_cast<node_type_id>(draws.below(types));
    type.destination = static_cast<node_type_id>(draws.below(types));
    type.name = fmt::format("r{}", e);
    const auto sources =
      static_cast<std::uint32_t>(graph.nodes[type.source].count);
    for (std::int64_t i = 0; i < graph.nodes[type.destination].count; ++i) {
      auto& list = type.in.emplace_back();
      const auto degree =
        draws.below(4) == 0 ? 0 : draws.below(opts.most_degree + 1);
      for (std::uint32_t j = 0; sources != 0 && j < degree; ++j)
        list.push_back(draws.below(sources));
    }
    graph.edges.push_back(std::move(type));
  }
  graph.target = static_cast<node_type_id>(draws.below(types));
  if (graph.nodes[graph.target].count == 0)
    graph.target = 0;
  return graph;
}

memory_graph with_weights(memory_graph graph, std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::generate, 0, 0), 5};
  for (std::size_t e = 0; e < graph.edges.size(); e += 2)
    for (const auto& list : graph.edges[e].in) {
      auto& weights = graph.edges[e].weights.emplace_back();
      for (std::size_t i = 0; i < list.size(); ++i)
        weights.push_back(draws.below(5) == 0 ? 0.0f : 2 * draws.uniform());
    }
  return graph;
}

std::vector<node_id> random_seeds(const memory_graph& graph,
                                  std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::permutation, 0, 0), 1};
  std::vector<node_id> seeds;
  for (std::int64_t i = 0; i < graph.nodes[graph.target].count; ++i)
    if (draws.below(4) == 0)
      seeds.push_back(i);
  for (std::size_t i = seeds.size(); i > 1; --i)
    std::swap(seeds[i - 1], seeds[draws.below(static_cast<std::uint32_t>(i))]);
  return seeds;
}

} // namespace graphmill::test
