#include "pipelines/flow/thinned_nodes.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace graphmill {

namespace {

/// The destinations of one node type from which edges of any type are excluded,
/// ascending, each once.
std::vector<node_id> destinations_of(node_type_id type,
                                     const dataset_info& info,
                                     const batch_seeds& seeds) {
  std::vector<node_id> out;
  for (std::size_t e = 0; e < seeds.excluded.size(); ++e)
    if (info.edge_types[e].destination == type) {
      const auto& more = seeds.excluded[e].destinations;
      out.insert(out.end(), more.begin(), more.end());
    }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The local ids of some nodes in a batch; -1: it does not have the node. A
/// batch has far more nodes than are looked for, so that a set of bits, which
/// stays in the nearest cache, passes over most of them.
/// @param wanted Ascending, each once.
std::vector<local_id> rows_of(std::span<const node_id> wanted,
                              std::span<const node_id> batch) {
  constexpr std::size_t bits_each = 16;
  std::vector<local_id> rows(wanted.size(), -1);
  std::vector<bool> may_be(std::bit_ceil(bits_each * wanted.size()));
  const auto bit_of = [mask = may_be.size() - 1](node_id id) {
    return static_cast<std::size_t>(mix64(static_cast<std::uint64_t>(id)))
           & mask;
  };
  for (const auto id : wanted)
    may_be[bit_of(id)] = true;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!may_be[bit_of(batch[i])])
      continue;
    const auto at = std::lower_bound(wanted.begin(), wanted.end(), batch[i]);
    if (at != wanted.end() && *at == batch[i])
      rows[static_cast<std::size_t>(at - wanted.begin())] =
        static_cast<local_id>(i);
  }
  return rows;
}

/// Adds what nodes lose of one edge type.
void add_losses(const excluded_edges& edges, thinned_nodes& out,
                excluded_lists& lists) {
  std::size_t i = 0;
  for (std::size_t d = 0; d < edges.destinations.size(); ++d) {
    while (i < out.ids.size() && out.ids[i] < edges.destinations[d])
      ++i;
    if (i == out.ids.size())
      return;
    if (out.ids[i] != edges.destinations[d])
      continue;
    const auto lost = edges.of_destination(d);
    out.lost[i] += static_cast<std::int32_t>(lost.size());
    lists.add(i, lost);
  }
}

} // namespace

std::vector<thinned_nodes> thinned_nodes_of(const partitioned_graph& graph,
                                            const sampled_subgraph& batch,
                                            const batch_seeds& seeds) {
  std::vector<thinned_nodes> out;
  const auto& info = graph.info();
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    const auto wanted = destinations_of(type, info, seeds);
    if (wanted.empty())
      continue;
    const auto rows = rows_of(wanted, batch.nodes[t].ids.span());
    const auto first = out.size();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (rows[i] < 0)
        continue;
      // Parts own ranges of ids, which ascend here.
      const auto part = graph.owner(type, wanted[i]);
      if (out.size() == first || out.back().part != part)
        out.push_back({type, part, {}, {}, {}, {}});
      out.back().ids.push_back(wanted[i]);
      out.back().rows.push_back(rows[i]);
    }
    for (auto i = first; i < out.size(); ++i) {
      auto& nodes = out[i];
      nodes.lost.resize(nodes.ids.size());
      nodes.excluded.resize(info.edge_types.size());
      for (std::size_t e = 0; e < seeds.excluded.size(); ++e)
        if (info.edge_types[e].destination == type)
          add_losses(seeds.excluded[e], nodes, nodes.excluded[e]);
    }
  }
  return out;
}

} // namespace graphmill
