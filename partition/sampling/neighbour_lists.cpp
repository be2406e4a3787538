#include "partition/sampling/neighbour_lists.hpp"

#include "partition/sampling/draws.hpp"

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace {

error broken_list(const list_task& work, node_id id, std::int64_t max_degree) {
  const auto* begin = &work.edges.indptr[id - work.nodes.begin];
  if (begin[0] >= 0 && begin[0] <= begin[1]
      && begin[1] <= work.edges.indices.size
      && begin[1] - begin[0] <= max_degree)
    return fail(ec::invalid_data,
                "visible.npy says that {} of the {} in-edges of node {} are of "
                "level {} or below; `graphmill inspect` says what else is "
                "broken",
                work.edges.seen(static_cast<std::size_t>(id - work.nodes.begin),
                                work.request.level),
                begin[1] - begin[0], work.nodes.original(id),
                work.request.level);
  return fail(
    ec::invalid_data,
    "the list of in-edges of node {} goes from {} to {} of {} edges, "
    "and {} in-edges are the most of a node; `graphmill inspect` says "
    "what else is broken",
    work.nodes.original(id), begin[0], begin[1], work.edges.indices.size,
    max_degree);
}

/// Which of the edges to exclude is not in a list.
error no_such_edge(const list_task& work, node_id id, std::int64_t degree,
                   std::span<const edge_id> ids) {
  std::uint32_t skip = 0;
  const auto alien =
    std::find_if_not(ids.begin(), ids.end(), [&](const edge_id& edge) {
      return find_skips(work.edges, work.nodes, id, degree, {&edge, 1}, &skip);
    });
  return fail(ec::invalid_argument,
              "edge {} is to be excluded from the {} in-edges of node {}, and "
              "is none of them",
              *alien, degree, work.nodes.original(id));
}

/// Shortens the lists from which edges are excluded, and what they give.
result<void> exclude(list_task& work, pod_vector<std::int32_t>& counts,
                     std::int64_t& total) {
  const auto& request = work.request;
  const auto& excluded = request.excluded;
  work.skips.resize(
    static_cast<std::size_t>(excluded.begins.back() - excluded.begins.front()));
  auto* skips = work.skips.data();
  for (std::size_t k = 0; k < excluded.size(); ++k) {
    const auto i = excluded.list(k);
    auto& place = work.places[i];
    const auto ids = excluded.of(k);
    const auto id = request.destinations[i];
    if (!find_skips(work.edges, work.nodes, id, place.degree, ids, skips)) {
      if (mapped_file::first_fault())
        return ok(); // Whoever asks looks at that, too.
      return no_such_edge(work, id, place.degree, ids);
    }
    skips += ids.size();
    place.degree -= static_cast<std::uint32_t>(ids.size());
    place.excluded = static_cast<std::int32_t>(k);
    const auto count = request.rule.sources_of(place.degree);
    total += count - counts[i];
    counts[i] = static_cast<std::int32_t>(count);
  }
  return ok();
}

} // namespace

bool find_skips(const edge_shard& edges, const node_shard& nodes, node_id id,
                std::int64_t degree, std::span<const edge_id> ids,
                std::uint32_t* skips) {
  const auto row = static_cast<std::size_t>(id - nodes.begin);
  const auto first = edges.original_begin.empty() ? edges.indptr[row]
                                                  : edges.original_begin[row];
  for (std::size_t j = 0; j < ids.size(); ++j) {
    if (ids[j] < first || ids[j] - first >= degree)
      return false;
    skips[j] = static_cast<std::uint32_t>(ids[j] - first)
               - static_cast<std::uint32_t>(j);
  }
  return true;
}

result<void> check_lists(const shard& graph, const neighbour_request& request) {
  const auto& info = graph.info();
  if (request.edge_type < 0
      || static_cast<std::size_t>(request.edge_type) >= info.edge_types.size())
    return fail(ec::invalid_argument, "there is no edge type {} in \"{}\"",
                request.edge_type, info.name);
  if (request.hop < 1 || request.hop > max_hops)
    return fail(ec::invalid_argument, "hop {} is not in 1..{}", request.hop,
                max_hops);
  GRAPHMILL_TRYV(request.rule.check());
  GRAPHMILL_TRYV(check_level(request.level));
  GRAPHMILL_TRYV(request.excluded.check(request.destinations.size()));
  if (request.weights && graph.edges(request.edge_type).weights.empty()
      && graph.edges(request.edge_type).indices.size != 0)
    return fail(ec::invalid_argument,
                "weights are asked for of edges of type {}, which have none",
                info.edge_type_name(request.edge_type));
  const auto type = info.edge_types[request.edge_type].destination;
  const auto& owned = graph.nodes(type);
  for (auto id : request.destinations)
    if (id < owned.begin || id >= owned.end)
      return fail(ec::invalid_argument,
                  "node {} of type \"{}\" is not in part {}, which owns [{}, "
                  "{})",
                  id, info.node_types[type].name, graph.part(), owned.begin,
                  owned.end);
  return ok();
}

result<std::int64_t> find_lists(list_task& work, std::int64_t max_degree,
                                pod_vector<std::int32_t>& counts) {
  const auto& request = work.request;
  const auto ids = request.destinations;
  const auto* indptr = work.edges.indptr.data();
  const auto limit = work.edges.indices.size;
  const auto first = work.nodes.begin;
  const auto hides = work.edges.hides(request.level);
  max_degree = std::min<std::int64_t>(max_degree, INT32_MAX);
  std::int64_t total = 0;
  std::int64_t broken = -1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + row_ahead < ids.size()) {
      const auto ahead = ids[i + row_ahead] - first;
      __builtin_prefetch(indptr + ahead);
      if (hides)
        __builtin_prefetch(work.edges.visible.data() + 2 * ahead);
    }
    const auto begin = indptr[ids[i] - first];
    const auto end = indptr[ids[i] - first + 1];
    auto sane =
      begin >= 0 && begin <= end && end <= limit && end - begin <= max_degree;
    auto degree = sane ? end - begin : 0;
    if (hides) {
      const auto row = static_cast<std::size_t>(ids[i] - first);
      const auto seen = seen_degree(work.edges, row, degree, request.level);
      sane &= seen >= 0;
      degree = std::max<std::int64_t>(seen, 0);
    }
    broken = sane ? broken : static_cast<std::int64_t>(i);
    work.places[i] = {sane ? begin : 0, static_cast<std::uint32_t>(degree)};
    const auto count = request.rule.sources_of(work.places[i].degree);
    counts[i] = static_cast<std::int32_t>(count);
    total += count;
  }
  if (broken >= 0 && !mapped_file::first_fault())
    return broken_list(work, ids[broken], max_degree);
  if (broken < 0 && !request.excluded.empty())
    GRAPHMILL_TRYV(exclude(work, counts, total));
  return total;
}

result<void> to_original_edges(const list_task& work, std::int64_t edges,
                               neighbour_reply& out) {
  const auto& begins = work.edges.original_begin;
  if (begins.empty() || out.edge_ids.empty())
    return ok();
  auto* id = out.edge_ids.data();
  for (std::size_t i = 0; i < work.places.size(); ++i) {
    const auto node = work.request.destinations[i];
    const auto begin = begins[node - work.nodes.begin];
    const auto& place = work.places[i];
    const auto degree =
      std::int64_t{place.degree} + std::ssize(work.skips_of(place));
    if (begin < 0 || begin > edges - degree)
      return fail(ec::invalid_data,
                  "{} in-edges of node {} begin at edge {} of {}: "
                  "original_begin.npy is damaged; partition the dataset again",
                  degree, work.nodes.original(node), begin, edges);
    // Fewer, where a slice of the list is answered.
    const auto count =
      std::min<std::ptrdiff_t>(out.counts[i], out.edge_ids.end() - id);
    for (const auto* end = id + count; id != end; ++id)
      *id += begin - place.begin;
  }
  return ok();
}

} // namespace graphmill
