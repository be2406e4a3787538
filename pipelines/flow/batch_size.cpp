#include "pipelines/flow/batch_size.hpp"

#include "partition/sampling/rows/packed_rows.hpp"

namespace graphmill {

namespace {

/// Counts that determine the size of a batch.
struct extent {
  std::uint64_t nodes = 0;
  std::uint64_t rows = 0; ///< Of all CSRs.
  std::uint64_t edges = 0;
  std::uint64_t weighted = 0; ///< Of the edges, those whose weights are held.
  std::uint64_t features = 0; ///< Bytes of features and ages of edges.
};

std::uint64_t bytes_per_node(const node_type_info& type,
                             const batch_needs& needs) {
  const auto form = row_form::of(type);
  auto row =
    type.feature_width > 0 ? sizeof(float) * form.floats() : sizeof(node_id);
  if (type.feature_width > 0 && needs.original_ids)
    row += sizeof(node_id);
  if (form.packed() && needs.unpacked)
    row += sizeof(float) * form.width;
  return sizeof(node_id) + row + needs.node_bytes
         + (needs.degrees ? sizeof(std::int32_t) : 0)
         + (needs.in_weights ? sizeof(float) : 0);
}

std::uint64_t edge_feature_bytes(const edge_type_info& type,
                                 const batch_needs& needs,
                                 std::uint64_t edges) {
  const auto features =
    needs.edge_features ? std::uint64_t(type.feature_width) : 0;
  const std::uint64_t ages = needs.ages && type.timed ? 1 : 0;
  return edges * (features + ages) * sizeof(float);
}

/// Of rows of labels: there may be thousands in each. One class for each seed
/// is nothing beside the rest of a batch. Those of edges are not of seeds.
std::uint64_t bytes_per_seed(const dataset_info& info) {
  if (info.chosen_task)
    return 0;
  const auto& target = info.node_types[info.target];
  return target.has_label_rows() ? target.label_bytes() : 0;
}

std::uint64_t structure_bytes(const extent& size, int hops,
                              const dataset_info& info,
                              const batch_needs& needs) {
  const auto csr = [&size](std::uint64_t rows, std::uint64_t weighted) {
    return rows * sizeof(std::int64_t) + size.edges * sizeof(local_id)
           + weighted * sizeof(float);
  };
  auto bytes = csr(size.rows, size.weighted);
  // Edges of types without weights get some where they are merged with others.
  const auto merged = needs.merged_relations && info.edge_types.size() > 1;
  const auto weighted = merged && needs.weights ? size.edges : size.weighted;
  if (merged)
    bytes += csr(size.rows, weighted);
  // Copied into one array where types are merged.
  bytes += size.features * (merged ? 2 : 1);
  bytes += size.edges * needs.edge_bytes;
  const auto transposed =
    needs.backward ? std::uint64_t(hops - 1) + needs.input_gradient : 0;
  const auto relations =
    needs.merged_relations ? 1 : std::uint64_t(info.edge_types.size());
  return bytes + transposed * csr(size.nodes * relations, weighted);
}

} // namespace

std::uint64_t bytes_of(const sampled_subgraph& graph, const dataset_info& info,
                       const batch_needs& needs) {
  extent size;
  std::uint64_t bytes = 0;
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    size.nodes += graph.nodes[t].ids.size();
    bytes +=
      graph.nodes[t].ids.size() * bytes_per_node(info.node_types[t], needs);
  }
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& list = graph.edges[e];
    size.features +=
      edge_feature_bytes(info.edge_types[e], needs, list.sources.size());
    size.rows += list.indptr.size();
    size.edges += list.sources.size();
    size.weighted += list.weights.size();
    bytes += (list.edge_ids.size() + list.places.size()) * sizeof(edge_id);
  }
  if (const auto labels = bytes_per_seed(info); labels != 0)
    bytes += labels * std::uint64_t(graph.nodes[info.target].found.front());
  return bytes + structure_bytes(size, graph.hops, info, needs);
}

std::uint64_t edge_list_bytes(const sampled_subgraph& graph,
                              const dataset_info& info,
                              const batch_needs& needs, part_id parts) {
  std::uint64_t edges = 0;
  if (needs.edge_features && parts > 1)
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (info.edge_types[e].feature_width > 0)
        edges += graph.edges[e].sources.size();
  return edges * (sizeof(edge_id) + sizeof(local_id));
}

std::uint64_t bytes_of(const subgraph_bound& bound, const dataset_info& info,
                       const batch_needs& needs,
                       const sampling_scheme& scheme) {
  // Beyond the batch itself, sampling needs so much memory for each edge: an
  // answer with ids of 4 bytes, and once more in one piece, or as ids of 8
  // bytes. Later `edge_list_bytes` needs no more.
  constexpr std::uint64_t working_bytes = 12;
  extent size;
  auto bytes =
    std::uint64_t(bound.working)
    + bytes_per_seed(info)
        * std::uint64_t(bound.seeds[static_cast<std::size_t>(info.target)]);
  for (std::size_t t = 0; t < bound.nodes.size(); ++t) {
    size.nodes += std::uint64_t(bound.nodes[t]);
    bytes +=
      std::uint64_t(bound.nodes[t]) * bytes_per_node(info.node_types[t], needs);
  }
  for (std::size_t e = 0; e < bound.edges.size(); ++e) {
    size.rows +=
      std::uint64_t(bound.expanded[info.edge_types[e].destination]) + 1;
    size.edges += std::uint64_t(bound.edges[e]);
    size.features += edge_feature_bytes(info.edge_types[e], needs,
                                        std::uint64_t(bound.edges[e]));
    const auto numbers =
      int{scheme.edge_ids}
      + int{scheme.places && info.edge_types[e].feature_width > 0};
    bytes += std::uint64_t(bound.edges[e]) * 2 * sizeof(edge_id)
             * std::uint64_t(numbers);                 // And those of answers.
    if (info.edge_types[e].index_type == dtype::int64) // Of answers.
      bytes +=
        std::uint64_t(bound.edges[e]) * (sizeof(node_id) - sizeof(local_id));
    if (scheme.ages && info.edge_types[e].timed) // Of answers, made of places.
      bytes +=
        std::uint64_t(bound.edges[e]) * (sizeof(float) + sizeof(edge_id));
    if (needs.weights && scheme.weighs(info.edge_types[e]))
      size.weighted += std::uint64_t(bound.edges[e]);
  }
  bytes += size.edges * working_bytes + size.weighted * sizeof(float);
  return bytes + structure_bytes(size, scheme.blocks(), info, needs);
}

} // namespace graphmill
