#include "partition/sampling/neighbour_lists.hpp"

#include "partition/sampling/draws.hpp"

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace {

error broken_list(const list_task& work, node_id id, std::int64_t max_degree) {
  const auto* begin = &work.edges.indptr[id - work.nodes.begin];
  return fail(
    ec::invalid_data,
    "the list of in-edges of node {} goes from {} to {} of {} edges, "
    "and {} in-edges are the most of a node; `graphmill inspect` says "
    "what else is broken",
    work.nodes.original(id), begin[0], begin[1], work.edges.indices.size,
    max_degree);
}

} // namespace

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
  max_degree = std::min<std::int64_t>(max_degree, INT32_MAX);
  std::int64_t total = 0;
  std::int64_t broken = -1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + row_ahead < ids.size())
      __builtin_prefetch(indptr + (ids[i + row_ahead] - first));
    const auto begin = indptr[ids[i] - first];
    const auto end = indptr[ids[i] - first + 1];
    const auto sane =
      begin >= 0 && begin <= end && end <= limit && end - begin <= max_degree;
    const auto degree = sane ? end - begin : 0;
    broken = sane ? broken : static_cast<std::int64_t>(i);
    work.places[i] = {sane ? begin : 0, static_cast<std::uint32_t>(degree)};
    const auto count = request.rule.sources_of(work.places[i].degree);
    counts[i] = static_cast<std::int32_t>(count);
    total += count;
  }
  if (broken >= 0 && !mapped_file::first_fault())
    return broken_list(work, ids[broken], max_degree);
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
    const auto [here, degree] = work.places[i];
    if (begin < 0 || begin > edges - std::int64_t{degree})
      return fail(ec::invalid_data,
                  "{} in-edges of node {} begin at edge {} of {}: "
                  "original_begin.npy is damaged; partition the dataset again",
                  degree, work.nodes.original(node), begin, edges);
    // Fewer, where a slice of the list is answered.
    const auto count =
      std::min<std::ptrdiff_t>(out.counts[i], out.edge_ids.end() - id);
    for (const auto* end = id + count; id != end; ++id)
      *id += begin - here;
  }
  return ok();
}

} // namespace graphmill
