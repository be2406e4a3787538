#include "partition/sampling/sampling.hpp"

#include "partition/sampling/id_table.hpp"
#include "partition/sampling/keyed_draws.hpp"

#include <algorithm>
#include <limits>
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

/// How many nodes of a type a batch may have, as often as it may have each.
std::int64_t most_of(const dataset_info& info, const sampling_scheme& scheme,
                     std::size_t type) {
  // With trees, a node may be there, and be expanded, once for each of them.
  return scheme.time.disjoint ? no_bound : info.node_types[type].count;
}

/// The bound of a batch of seeds alone.
subgraph_bound no_hops(const dataset_info& info, const sampling_scheme& scheme,
                       std::span<const std::int64_t> seeds) {
  const auto types = info.node_types.size();
  subgraph_bound bound{std::vector<std::int64_t>(types),
                       std::vector<std::int64_t>(types),
                       std::vector<std::int64_t>(info.edge_types.size())};
  for (std::size_t t = 0; t < types; ++t)
    bound.nodes[t] = std::min(seeds[t], most_of(info, scheme, t));
  bound.seeds = bound.nodes;
  return bound;
}

/// The edges of a hop that leads from `fresh` nodes.
std::int64_t edges_of(const dataset_info& info, const sampling_scheme& scheme,
                      const edge_type_info& type, const draw_rule& rule,
                      std::int64_t fresh, std::int64_t& working) {
  if (scheme.method == sampling_method::pinsage && rule.fanout != 0) {
    const auto walks = times(fresh, scheme.walk.walks);
    const auto visits = times(walks, scheme.walk.length);
    // A walk's place, token and start, twice, with an answer; a visit, counted.
    working = plus(working, plus(times(walks, 72), times(visits, 48)));
    const auto most =
      std::min(info.node_types[type.source].count,
               std::int64_t{scheme.walk.walks} * scheme.walk.length);
    return times(fresh, rule.takes_all()
                          ? most
                          : std::min<std::int64_t>(most, rule.fanout));
  }
  const auto edges = times(fresh, rule.sources_of(type.max_in_degree));
  // A node is expanded in one hop only, and an edge belongs to one destination.
  // Unless a list is drawn from with replacement, no edge can therefore be
  // sampled twice, neither in this hop nor in all of them.
  return rule.may_repeat() || scheme.time.disjoint
           ? edges
           : std::min(edges, type.count);
}

void add_hops(const dataset_info& info, const sampling_scheme& scheme,
              subgraph_bound& bound) {
  const auto types = info.node_types.size();
  const auto by_lists = draws_lists(scheme.method);
  // The most nodes of each type that the hop before can have found, which are
  // those that the present hop expands.
  auto fresh = bound.seeds;
  for (int hop = 0; hop < scheme.hops(); ++hop) {
    std::vector<std::int64_t> found(types);
    std::int64_t working = 0;
    for (std::size_t t = 0; t < types; ++t)
      bound.expanded[t] =
        std::min(most_of(info, scheme, t), plus(bound.expanded[t], fresh[t]));
    for (std::size_t e = 0; e < scheme.fanouts[hop].size(); ++e) {
      const auto& type = info.edge_types[e];
      const auto edges = edges_of(
        info, scheme, type, scheme.rule(hop, static_cast<edge_type_id>(e)),
        fresh[type.destination], working);
      bound.edges[e] = plus(bound.edges[e], edges);
      if (by_lists && !repeats(scheme.kind) && !scheme.time.disjoint)
        bound.edges[e] = std::min(bound.edges[e], type.count);
      found[type.source] = plus(found[type.source], edges);
    }
    for (std::size_t t = 0; t < types; ++t) {
      const auto count = most_of(info, scheme, t);
      fresh[t] = std::min(found[t], count);
      bound.nodes[t] = std::min(count, plus(bound.nodes[t], fresh[t]));
    }
    bound.working = std::max(bound.working, working);
  }
}

/// Of each type a hop takes as many nodes as the budget says. Edges by which
/// nodes are proposed are kept while a hop lasts.
void add_budgets(const dataset_info& info, const sampling_scheme& scheme,
                 subgraph_bound& bound) {
  auto fresh = bound.seeds;
  std::vector<std::int64_t> proposed(info.node_types.size());
  for (int hop = 0; hop < scheme.hops(); ++hop) {
    std::int64_t proposals = 0;
    for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
      const auto& type = info.edge_types[e];
      const auto edges = times(fresh[type.destination],
                               scheme.rule(hop, static_cast<edge_type_id>(e))
                                 .sources_of(type.max_in_degree));
      proposals = plus(proposals, edges);
      proposed[type.source] = std::min(info.node_types[type.source].count,
                                       plus(proposed[type.source], edges));
    }
    std::int64_t candidates = 0;
    for (std::size_t t = 0; t < fresh.size(); ++t) {
      const auto count = info.node_types[t].count;
      fresh[t] = std::min<std::int64_t>(
        count, scheme.budgets[static_cast<std::size_t>(hop)][t]);
      bound.nodes[t] = std::min(count, plus(bound.nodes[t], fresh[t]));
      candidates = plus(candidates, plus(proposed[t], bound.nodes[t]));
    }
    // An answer and its arrays; of a candidate its id, slot, sum and key.
    bound.working = std::max(bound.working,
                             plus(times(proposals, 40), times(candidates, 96)));
  }
}

/// A walk from each seed finds a node in each step.
void add_roots(const dataset_info& info, const sampling_scheme& scheme,
               subgraph_bound& bound) {
  std::int64_t walks = 0;
  for (const auto seeds : bound.seeds)
    walks = plus(walks, seeds);
  const auto steps = times(walks, scheme.walk.length);
  std::vector<bool> reached(info.node_types.size());
  std::int64_t used = 0;
  for (std::size_t e = 0; e < info.edge_types.size(); ++e)
    if (scheme.samples(static_cast<edge_type_id>(e))) {
      reached[static_cast<std::size_t>(info.edge_types[e].source)] = true;
      ++used;
    }
  for (std::size_t t = 0; t < reached.size(); ++t)
    if (reached[t])
      bound.nodes[t] =
        std::min(info.node_types[t].count, plus(bound.nodes[t], steps));
  // A place and an offer of each type for each walk, and all that was visited.
  bound.working = plus(times(times(walks, used), 112),
                       plus(times(walks, 32), times(steps, 16)));
}

/// From the edges by which nodes are found to those that the batch has.
void close(const dataset_info& info, const sampling_scheme& scheme,
           subgraph_bound& bound) {
  bound.expanded = scheme.blocks() > 1 ? bound.nodes : bound.seeds;
  const auto sampled = bound.edges;
  for (std::size_t e = 0; e < sampled.size(); ++e) {
    const auto& type = info.edge_types[e];
    if (scheme.subgraph == subgraph_kind::bidirectional) {
      if (const auto opposite = scheme.opposites[e]; opposite >= 0)
        bound.edges[e] =
          plus(sampled[e], sampled[static_cast<std::size_t>(opposite)]);
    } else if (scheme.samples(static_cast<edge_type_id>(e)))
      bound.edges[e] = std::max( // Both are there, one after the other.
        sampled[e],
        std::min(
          type.count,
          times(bound.expanded[static_cast<std::size_t>(type.destination)],
                type.max_in_degree)));
  }
}

/// Moves element `from` to the place of element `to`, if there is one.
template <class T>
void move_element(pod_vector<T>& values, std::size_t from, std::size_t to) {
  if (!values.empty())
    values[to] = values[from];
}

template <class T>
void cut_off(pod_vector<T>& values, std::size_t size) {
  values.resize(std::min(values.size(), size));
}

template <class Id>
void keep_sources(neighbour_reply& reply, const node_subset& nodes,
                  std::int64_t count) {
  auto* ids = reinterpret_cast<Id*>(reply.sources.data());
  std::size_t at = 0;
  std::size_t kept = 0;
  for (auto& of_list : reply.counts) {
    const auto before = kept;
    for (const auto end = at + static_cast<std::size_t>(of_list); at < end;
         ++at) {
      const auto id = static_cast<node_id>(ids[at]);
      if (id >= 0 && id < count && nodes.numbers->find(id, *nodes.ids) < 0)
        continue;
      ids[kept] = ids[at];
      move_element(reply.edge_ids, at, kept);
      move_element(reply.weights, at, kept);
      move_element(reply.places, at, kept);
      move_element(reply.ages, at, kept);
      ++kept;
    }
    of_list = static_cast<std::int32_t>(kept - before);
  }
  reply.sources.resize(kept * sizeof(Id));
  cut_off(reply.edge_ids, kept);
  cut_off(reply.weights, kept);
  cut_off(reply.places, kept);
  cut_off(reply.ages, kept);
}

} // namespace

std::size_t sampled_subgraph::byte_size() const {
  std::size_t sum = 0;
  for (const auto& list : nodes)
    sum += list.ids.span().size_bytes();
  for (const auto& list : edges)
    sum += list.indptr.span().size_bytes() + list.sources.span().size_bytes()
           + list.edge_ids.span().size_bytes()
           + list.weights.span().size_bytes() + list.places.span().size_bytes()
           + list.ages.span().size_bytes();
  for (const auto& list : nodes)
    sum += list.trees.span().size_bytes();
  return sum;
}

void neighbour_reply::append_sources(const neighbour_reply& more) {
  sources.append(more.sources.span());
  edge_ids.append(more.edge_ids.span());
  weights.append(more.weights.span());
  places.append(more.places.span());
  ages.append(more.ages.span());
}

void neighbour_reply::keep_among(const node_subset& nodes, std::int64_t count) {
  if (wide)
    keep_sources<std::int64_t>(*this, nodes, count);
  else
    keep_sources<std::int32_t>(*this, nodes, count);
}

neighbour_reply join(std::vector<neighbour_reply> pieces) {
  if (pieces.size() == 1)
    return std::move(pieces.front());
  neighbour_reply whole;
  if (pieces.empty())
    return whole;
  whole = neighbour_reply::in(pieces.front().counts.pool());
  whole.wide = pieces.front().wide;
  const auto make_room = [&](auto array) {
    std::size_t size = 0;
    for (const auto& piece : pieces)
      size += (piece.*array).size();
    (whole.*array).reserve(size);
  };
  make_room(&neighbour_reply::counts);
  make_room(&neighbour_reply::sources);
  make_room(&neighbour_reply::edge_ids);
  make_room(&neighbour_reply::weights);
  make_room(&neighbour_reply::places);
  make_room(&neighbour_reply::ages);
  for (auto& piece : pieces) {
    whole.too_large |= piece.too_large;
    whole.counts.append(piece.counts.span());
    whole.append_sources(piece);
    piece = {};
  }
  return whole;
}

neighbour_reply neighbour_reply::in(const std::shared_ptr<buffer_pool>& pool) {
  return {pod_vector<std::int32_t>{pool},
          pod_vector<std::byte>{pool},
          false,
          pod_vector<edge_id>{pool},
          pod_vector<float>{pool},
          pod_vector<edge_id>{pool},
          pod_vector<float>{pool}};
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
      auto reply = neighbour_reply::in(pool);
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
  auto bound = no_hops(info, scheme, seeds);
  switch (scheme.method) {
  case sampling_method::hgt:
    add_budgets(info, scheme, bound);
    break;
  case sampling_method::saint:
    add_roots(info, scheme, bound);
    break;
  case sampling_method::pinsage:
  case sampling_method::uniform:
  case sampling_method::weighted:
  case sampling_method::labor:
    add_hops(info, scheme, bound);
    break;
  }
  if (scheme.subgraph != subgraph_kind::directional && scheme.hops() > 0)
    close(info, scheme, bound);
  return bound;
}

std::uint64_t list_bytes(const dataset_info& info,
                         const sampling_scheme& scheme) {
  std::uint64_t most = 0;
  for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
    const auto& type = info.edge_types[e];
    const auto kind =
      type.weighted ? scheme.kind : without_weights(scheme.kind);
    const auto draws =
      std::any_of(scheme.fanouts.begin(), scheme.fanouts.end(),
                  [e](const auto& fanouts) { return fanouts[e] > 0; });
    std::uint64_t each = 0;
    if (reads_lists(kind) && draws)
      each = keyed_draws::bytes_per_edge;
    if (scheme.subgraph == subgraph_kind::induced
        && scheme.samples(static_cast<edge_type_id>(e)))
      each = std::max<std::uint64_t>(each, sizeof(edge_id)); // Places.
    most = std::max(most, each * std::uint64_t(type.max_in_degree));
  }
  return most;
}

} // namespace graphmill
