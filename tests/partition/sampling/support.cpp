#include "tests/partition/sampling/support.hpp"

#include "partition/dataset/meaning/opposite_type.hpp"
#include "partition/disk/disk_sampling.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "partition/sampling/slices.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace graphmill::test {

plain_batch to_plain(const sampled_subgraph& batch, const cut_graph& graph) {
  plain_batch out;
  for (std::size_t t = 0; t < batch.nodes.size(); ++t) {
    auto& ids = out.nodes.emplace_back();
    for (auto id : batch.nodes[t].ids)
      ids.push_back(graph.original[t][id]);
    out.found.push_back(batch.nodes[t].found);
    out.trees.push_back(list(batch.nodes[t].trees));
  }
  for (const auto& edges : batch.edges)
    out.edge_types.push_back({list(edges.indptr), list(edges.sources),
                              list(edges.edge_ids), list(edges.weights),
                              list(edges.ages)});
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

plain_batch sample_plain(const cut_graph& graph, const sampling_scheme& scheme,
                         std::uint64_t key, const batch_seeds& seeds) {
  return to_plain(
    value_of(sample(*graph.graph, graph.shards, scheme, key, seeds)), graph);
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

memory_graph with_levels(memory_graph graph, std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::split, 0, 0), 11};
  for (auto& type : graph.edges) {
    if (draws.below(4) == 0)
      continue;
    for (std::size_t to = 0; to < type.in.size(); ++to) {
      auto& list = type.in[to];
      std::vector<edge_level> levels;
      for (std::size_t i = 0; i < list.size(); ++i)
        levels.push_back(static_cast<edge_level>(
          std::max<std::uint32_t>(draws.below(6), 3) - 3));
      std::vector<std::size_t> order(list.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](auto a, auto b) { return levels[a] < levels[b]; });
      auto sorted = list;
      auto weights =
        type.weights.empty() ? std::vector<float>{} : type.weights[to];
      auto& of_list = type.levels.emplace_back();
      for (std::size_t i = 0; i < order.size(); ++i) {
        sorted[i] = list[order[i]];
        of_list.push_back(levels[order[i]]);
        if (!weights.empty())
          weights[i] = type.weights[to][order[i]];
      }
      list = std::move(sorted);
      if (!type.weights.empty())
        type.weights[to] = std::move(weights);
    }
  }
  return graph;
}

memory_graph with_times(memory_graph graph, std::uint64_t seed,
                        bool over_levels) {
  random_stream draws{stream_key(seed, purpose::generate, 0, 1), 13};
  for (auto& type : graph.edges) {
    if (draws.below(5) == 0)
      continue;
    for (std::size_t to = 0; to < type.in.size(); ++to) {
      auto& times = type.times.emplace_back();
      for (std::size_t i = 0; i < type.in[to].size(); ++i)
        times.push_back(draws.below(20));
      const auto level_of = [&](std::size_t i) {
        return type.levels.empty() ? 0 : type.levels[to][i];
      };
      for (std::size_t from = 0; from < times.size();) {
        auto end = from;
        while (end < times.size()
               && (over_levels || level_of(end) == level_of(from)))
          ++end;
        std::sort(times.begin() + static_cast<std::ptrdiff_t>(from),
                  times.begin() + static_cast<std::ptrdiff_t>(end));
        from = end;
      }
    }
  }
  return graph;
}

std::size_t thinned_graph::count() const {
  std::size_t sum = 0;
  for (const auto& lists : gone)
    for (const auto& list : lists)
      sum += list.size();
  return sum;
}

std::vector<excluded_edges>
thinned_graph::excluded(const memory_graph& graph,
                        const cut_graph& parts) const {
  std::vector<excluded_edges> out;
  for (std::size_t e = 0; e < gone.size(); ++e) {
    std::vector<excluded_edges::entry> entries;
    const auto to = graph.edges[e].destination;
    for (std::size_t node = 0; node < gone[e].size(); ++node)
      for (auto position : gone[e][node])
        entries.push_back({parts.to_global[to][node],
                           graph.first_edge(static_cast<edge_type_id>(e),
                                            static_cast<node_id>(node))
                             + position});
    std::reverse(entries.begin(), entries.end());
    out.push_back(excluded_edges::of(std::move(entries)));
  }
  return out;
}

plain_batch thinned_graph::renumbered(plain_batch batch) const {
  for (std::size_t e = 0; e < kept.size(); ++e)
    for (auto& id : batch.edge_types[e].edge_ids)
      id = kept[e].at(static_cast<std::size_t>(id));
  return batch;
}

thinned_graph thin_out(const memory_graph& graph, std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::split, 0, 0), 9};
  const auto way = draws.below(4);
  const auto share = 2 + draws.below(12);
  // Numbers that all edges between two nodes have in common.
  const auto pair_of = [&](const memory_graph::edge_type& type, node_id from,
                           node_id to) {
    auto a = std::pair{type.source, from};
    auto b = std::pair{type.destination, to};
    if (b < a)
      std::swap(a, b);
    return mix64(
      mix64(static_cast<std::uint64_t>(a.first * 1000 + a.second) + 1)
      + static_cast<std::uint64_t>(b.first * 1000 + b.second) + seed);
  };
  thinned_graph out{graph, {}, {}};
  for (auto& type : out.left.edges) {
    auto& gone = out.gone.emplace_back(type.in.size());
    auto& kept = out.kept.emplace_back();
    edge_id id = 0;
    for (std::size_t to = 0; to < type.in.size(); ++to) {
      const auto all = way == 2 && draws.below(share) == 0;
      std::vector<node_id> sources;
      std::vector<float> weights;
      for (std::size_t j = 0; j < type.in[to].size(); ++j, ++id) {
        const auto from = type.in[to][j];
        const auto goes =
          all || (way == 0 && draws.below(share) == 0)
          || (way == 1
              && pair_of(type, from, static_cast<node_id>(to)) % share == 0);
        if (goes) {
          gone[to].push_back(static_cast<std::int64_t>(j));
          continue;
        }
        kept.push_back(id);
        sources.push_back(from);
        if (!type.weights.empty())
          weights.push_back(type.weights[to][j]);
      }
      type.in[to] = std::move(sources);
      if (!type.weights.empty())
        type.weights[to] = std::move(weights);
    }
  }
  return out;
}

reduced_graph reduce(const memory_graph& graph, edge_level level,
                     std::uint32_t share, std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::split, 0, 1), 12};
  reduced_graph out{{graph, {}, {}}, {graph, {}, {}}};
  for (auto& type : out.seen.left.edges) {
    auto& kept = out.seen.kept.emplace_back();
    auto& gone = out.excluded.gone.emplace_back(type.in.size());
    edge_id id = 0;
    for (std::size_t to = 0; to < type.in.size(); ++to) {
      std::vector<node_id> sources;
      std::vector<float> weights;
      for (std::size_t i = 0; i < type.in[to].size(); ++i, ++id) {
        const auto own = type.levels.empty() ? 0 : type.levels[to][i];
        if (own > level)
          continue;
        if (own == 0 && share != 0 && draws.below(share) == 0) {
          gone[to].push_back(static_cast<std::int64_t>(i));
          continue;
        }
        kept.push_back(id);
        sources.push_back(type.in[to][i]);
        if (!type.weights.empty())
          weights.push_back(type.weights[to][i]);
      }
      type.in[to] = std::move(sources);
      if (!type.weights.empty())
        type.weights[to] = std::move(weights);
    }
    type.levels.clear();
  }
  return out;
}

namespace {

std::vector<node_id> some_nodes(std::int64_t count, random_stream draws) {
  std::vector<node_id> seeds;
  for (std::int64_t i = 0; i < count; ++i)
    if (draws.below(4) == 0)
      seeds.push_back(i);
  for (std::size_t i = seeds.size(); i > 1; --i)
    std::swap(seeds[i - 1], seeds[draws.below(static_cast<std::uint32_t>(i))]);
  return seeds;
}

} // namespace

std::vector<node_id> random_seeds(const memory_graph& graph,
                                  std::uint64_t seed) {
  return some_nodes(graph.nodes[graph.target].count,
                    {stream_key(seed, purpose::permutation, 0, 0), 1});
}

batch_seeds random_typed_seeds(const memory_graph& graph,
                               const cut_graph& parts, std::uint64_t seed) {
  batch_seeds out;
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    auto& ids = out.nodes.emplace_back(some_nodes(
      graph.nodes[t].count, {stream_key(seed, purpose::permutation, 0, 1), t}));
    for (auto& id : ids)
      id = parts.to_global[t][id];
  }
  return out;
}

draw_kind random_kind(random_stream& draws) {
  return std::array{draw_kind::without_replacement, draw_kind::with_replacement,
                    draw_kind::weighted_without_replacement,
                    draw_kind::weighted_with_replacement,
                    draw_kind::labor}[draws.below(5)];
}

sampling_scheme random_scheme(const memory_graph& graph, random_stream& draws) {
  sampling_scheme scheme;
  const auto hops = 1 + draws.below(3);
  for (std::uint32_t h = 0; h < hops; ++h) {
    auto& fanouts = scheme.fanouts.emplace_back();
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      fanouts.push_back(std::array{-1, 0, 1, 2, 3, 7, 33}[draws.below(7)]);
  }
  scheme.kind = random_kind(draws);
  scheme.edge_ids = draws.below(4) != 0;
  scheme.weights = draws.below(2) == 0;
  return scheme;
}

namespace {

void append(neighbour_reply& to, const neighbour_reply& from) {
  to.wide = from.wide;
  to.counts.append(from.counts.span());
  to.append_sources(from);
}

/// Answers a request as a whole, out of memory or from disk, in pieces, or each
/// node's list in slices.
neighbour_reply answer(const shard& part, const neighbour_request& request,
                       random_stream& draws) {
  neighbour_reply out;
  const auto total = request.destinations.size();
  const auto way = draws.below(4);
  if (way == 0) {
    value_of(sample_neighbours(part, request, out));
  } else if (way == 1) {
    value_of(sample_from_disk(part, request, out));
  } else if (way == 2) {
    for (std::size_t from = 0; from < total;) {
      const auto count =
        std::min<std::size_t>(1 + draws.below(6), total - from);
      // Pieces of pieces are pieces.
      const auto piece = request.piece(from, total - from).piece(0, count);
      neighbour_reply some;
      value_of(sample_neighbours(part, piece, some));
      append(out, some);
      from += count;
    }
  } else {
    for (std::size_t i = 0; i < total; ++i) {
      source_slice slice{1 + draws.below(4), 0};
      neighbour_reply list;
      do {
        neighbour_reply some;
        value_of(sample_slice(part, request.piece(i, 1), slice, some));
        if (slice.skip != 0)
          some.counts.clear();
        append(list, some);
        slice.skip += slice.most;
      } while (slice.skip < list.counts[0]);
      append(out, list);
    }
  }
  return out;
}

} // namespace

plain_batch sample_anyhow(const cut_graph& graph, const sampling_scheme& scheme,
                          std::uint64_t key, const batch_seeds& seeds,
                          random_stream& draws) {
  batch_sampler sampler{*graph.graph, scheme, key, nullptr};
  value_of(sampler.start(seeds));
  while (!sampler.done()) {
    for (const auto& asked : sampler.requests())
      value_of(sampler.accept(
        asked.slot, answer(*graph.shards[asked.part], asked.request, draws)));
    value_of(sampler.finish_hop());
  }
  return to_plain(sampler.take(), graph);
}

memory_graph with_reverses(memory_graph graph, bool within) {
  const auto types = graph.edges.size();
  for (std::size_t e = 0; e < types; ++e) {
    const auto type = graph.edges[e];
    if (type.source == type.destination && (!within || e % 2 == 0))
      continue;
    memory_graph::edge_type reverse;
    reverse.source = type.destination;
    reverse.name = "rev_" + type.name;
    reverse.destination = type.source;
    reverse.in.resize(static_cast<std::size_t>(graph.nodes[type.source].count));
    if (!type.weights.empty())
      reverse.weights.resize(reverse.in.size());
    for (std::size_t to = 0; to < type.in.size(); ++to)
      for (std::size_t i = 0; i < type.in[to].size(); ++i) {
        const auto from = static_cast<std::size_t>(type.in[to][i]);
        reverse.in[from].push_back(static_cast<node_id>(to));
        if (!type.weights.empty())
          reverse.weights[from].push_back(type.weights[to][i]);
      }
    graph.edges.push_back(std::move(reverse));
  }
  return graph;
}

std::vector<edge_type_id> opposites_of(const dataset_info& info) {
  std::vector<edge_type_id> out;
  for (std::size_t e = 0; e < info.edge_types.size(); ++e)
    out.push_back(opposite_type(info, static_cast<edge_type_id>(e)).value());
  return out;
}

cut_graph random_cut(const memory_graph& graph, part_id parts,
                     std::uint64_t seed, random_stream& draws) {
  const auto wide = draws.below(2) == 0;
  return parts == 1
           ? whole(graph, {wide})
           : cut(graph, parts, random_assignment(graph, parts, seed), {wide});
}

void check_cuts(const memory_graph& graph, const sampling_scheme& scheme,
                std::uint64_t seed, random_stream& draws,
                const plain_batch& batch) {
  for (const part_id parts : {1, 2, 4}) {
    CATCH_INFO("parts " << parts);
    const auto cut_up =
      cut(graph, parts, random_assignment(graph, parts, seed + 1),
          {seed % 2 == 0, false});
    CATCH_REQUIRE(sample_anyhow(cut_up, scheme, seed,
                                random_typed_seeds(graph, cut_up, seed), draws)
                  == batch);
  }
}

void check_bound(const cut_graph& graph, const sampling_scheme& scheme,
                 const batch_seeds& seeds, const plain_batch& batch) {
  std::vector<std::int64_t> counts;
  for (const auto& ids : seeds.nodes)
    counts.push_back(std::ssize(ids));
  const auto bound = bound_of(graph.graph->info(), scheme, counts);
  for (std::size_t t = 0; t < batch.nodes.size(); ++t) {
    CATCH_CHECK(std::ssize(batch.nodes[t]) <= bound.nodes[t]);
    const auto& found = batch.found[t];
    CATCH_CHECK(found[found.size() - 2] <= bound.expanded[t]);
  }
  for (std::size_t e = 0; e < batch.edge_types.size(); ++e)
    CATCH_CHECK(std::ssize(batch.edge_types[e].sources) <= bound.edges[e]);
}

void check_induced(const memory_graph& graph, const sampling_scheme& scheme,
                   const plain_batch& batch) {
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& type = graph.edges[e];
    const auto& indptr = batch.edge_types[e].indptr;
    const auto sampled = scheme.samples(static_cast<edge_type_id>(e));
    for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
      std::int64_t inside = 0;
      for (const auto from : type.in[batch.nodes[type.destination][row]])
        inside += std::count(batch.nodes[type.source].begin(),
                             batch.nodes[type.source].end(), from);
      CATCH_CHECK(indptr[row + 1] - indptr[row] == (sampled ? inside : 0));
    }
  }
}

void check_in_weights(const memory_graph& graph, std::uint64_t seed,
                      const thinned_graph& excluded, const memory_graph& left,
                      edge_level level) {
  const auto rest = whole(left);
  const auto cut_up = cut(graph, 3, random_assignment(graph, 3, seed));
  const auto lists = excluded.excluded(graph, cut_up);
  for (std::size_t t = 0; t < graph.nodes.size(); ++t)
    for (node_id id = 0; id < graph.nodes[t].count; ++id) {
      const auto type = static_cast<node_type_id>(t);
      const auto global = cut_up.to_global[t][static_cast<std::size_t>(id)];
      std::vector<std::span<const edge_id>> gone(graph.edges.size());
      for (std::size_t e = 0; e < gone.size(); ++e)
        for (std::size_t d = 0; d < lists[e].destinations.size(); ++d)
          if (graph.edges[e].destination == type
              && lists[e].destinations[d] == global)
            gone[e] = lists[e].of_destination(d);
      const auto& part =
        *cut_up
           .shards[static_cast<std::size_t>(cut_up.graph->owner(type, global))];
      CATCH_REQUIRE(value_of(in_weight(part, type, global, gone, level))
                    == value_of(in_weight(*rest.shards[0], type, id)));
    }
}

void check_share(double count, double share, double of) {
  CATCH_INFO("share " << share << " of " << of << ", seen " << count);
  CATCH_CHECK(std::abs(count - share * of)
              <= 4 * std::sqrt(of * share * (1 - share)) + 1e-9);
}

} // namespace graphmill::test
