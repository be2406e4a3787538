#include "partition/sampling/sampling.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

// Fanouts of several hops multiply, and -1 multiplies by the greatest degree:
// the products of a large definition exceed 64 bits long before the counts of
// the dataset cut them down. So sums and products stop at the greatest number.
constexpr auto no_bound = std::numeric_limits<std::int64_t>::max();

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? no_bound : product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? no_bound : sum;
}

} // namespace

std::size_t sampled_subgraph::byte_size() const {
  std::size_t sum = 0;
  for (const auto& list : nodes)
    sum += list.ids.span().size_bytes();
  for (const auto& list : edges)
    sum += list.indptr.span().size_bytes() + list.sources.span().size_bytes()
           + list.edge_ids.span().size_bytes()
           + list.weights.span().size_bytes()
           + list.places.span().size_bytes();
  for (const auto& list : nodes)
    sum += list.trees.span().size_bytes();
  return sum;
}

std::size_t batch_seeds::count() const {
  std::size_t sum = 0;
  for (const auto& ids : nodes)
    sum += ids.size();
  return sum;
}

neighbour_request neighbour_request::piece(std::size_t from,
                                           std::size_t count) const {
  auto out = *this;
  out.destinations = destinations.subspan(from, count);
  out.excluded = excluded.piece(from, count);
  out.time = time.piece(from, count);
  return out;
}

batch_seeds target_seeds(const dataset_info& info,
                         std::span<const node_id> nodes) {
  batch_seeds out{std::vector<std::vector<node_id>>(info.node_types.size())};
  out.nodes[static_cast<std::size_t>(info.target)].assign(nodes.begin(),
                                                          nodes.end());
  return out;
}

result<sampled_subgraph>
sample(const partitioned_graph& graph,
       std::span<const std::shared_ptr<const shard>> shards,
       const sampling_scheme& scheme, std::uint64_t key,
       std::span<const node_id> seeds, std::shared_ptr<buffer_pool> pool) {
  return sample(graph, shards, scheme, key, target_seeds(graph.info(), seeds),
                std::move(pool));
}

result<sampled_subgraph>
sample(const partitioned_graph& graph,
       std::span<const std::shared_ptr<const shard>> shards,
       const sampling_scheme& scheme, std::uint64_t key,
       const batch_seeds& seeds, std::shared_ptr<buffer_pool> pool) {
  if (shards.size() != static_cast<std::size_t>(graph.part_count()))
    return fail(ec::invalid_argument, "{} shards were given for {} parts",
                shards.size(), graph.part_count());
  batch_sampler sampler{graph, scheme, key, pool};
  GRAPHMILL_TRYV(sampler.start(seeds));
  while (!sampler.done()) {
    for (const auto& asked : sampler.requests()) {
      neighbour_reply reply{pod_vector<std::int32_t>{pool},
                            pod_vector<std::byte>{pool}, false,
                            pod_vector<edge_id>{pool}, pod_vector<float>{pool}};
      GRAPHMILL_TRYV(
        sample_neighbours(*shards[asked.part], asked.request, reply));
      GRAPHMILL_TRYV(sampler.accept(asked.slot, std::move(reply)));
    }
    GRAPHMILL_TRYV(sampler.finish_hop());
  }
  return sampler.take();
}

subgraph_bound bound_of(const dataset_info& info, const sampling_scheme& scheme,
                        std::int64_t seeds) {
  std::vector<std::int64_t> by_type(info.node_types.size());
  by_type[static_cast<std::size_t>(info.target)] = seeds;
  return bound_of(info, scheme, by_type);
}

subgraph_bound bound_of(const dataset_info& info, const sampling_scheme& scheme,
                        std::span<const std::int64_t> seeds) {
  const auto types = info.node_types.size();
  subgraph_bound bound{std::vector<std::int64_t>(types),
                       std::vector<std::int64_t>(types),
                       std::vector<std::int64_t>(info.edge_types.size())};
  // The most nodes of each type that the hop before can have found, which are
  // those that the present hop expands.
  std::vector<std::int64_t> fresh(types);
  // With trees, a node may be there, and be expanded, once for each of them.
  const auto most = [&](std::size_t t) {
    return scheme.time.disjoint ? no_bound : info.node_types[t].count;
  };
  for (std::size_t t = 0; t < types; ++t)
    fresh[t] = std::min(seeds[t], most(t));
  bound.nodes = fresh;
  bound.seeds = fresh;
  for (int hop = 0; hop < scheme.hops(); ++hop) {
    std::vector<std::int64_t> found(types);
    for (std::size_t t = 0; t < types; ++t)
      bound.expanded[t] =
        std::min(most(t), plus(bound.expanded[t], fresh[t]));
    for (std::size_t e = 0; e < scheme.fanouts[hop].size(); ++e) {
      const auto& type = info.edge_types[e];
      const auto rule = scheme.rule(hop, static_cast<edge_type_id>(e));
      auto edges =
        times(fresh[type.destination], rule.sources_of(type.max_in_degree));
      // A node is expanded in one hop only, and an edge belongs to one
      // destination. Unless a list is drawn from with replacement, no edge can
      // therefore be sampled twice, neither in this hop nor in all of them.
      if (!rule.may_repeat() && !scheme.time.disjoint)
        edges = std::min(edges, type.count);
      bound.edges[e] = plus(bound.edges[e], edges);
      if (!repeats(scheme.kind) && !scheme.time.disjoint)
        bound.edges[e] = std::min(bound.edges[e], type.count);
      found[type.source] = plus(found[type.source], edges);
    }
    for (std::size_t t = 0; t < types; ++t) {
      const auto count = most(t);
      fresh[t] = std::min(found[t], count);
      bound.nodes[t] = std::min(count, plus(bound.nodes[t], fresh[t]));
    }
  }
  return bound;
}

} // namespace graphmill
