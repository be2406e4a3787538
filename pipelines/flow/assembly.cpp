#include "pipelines/flow/assembly.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

csr take_csr(edge_list& edges) {
  return {std::move(edges.indptr), std::move(edges.sources),
          std::move(edges.weights)};
}

/// The weights beside `merge`, if edges of any type have some; those of the
/// others weigh 1. Releases them.
pod_vector<float> merged_weights(std::span<edge_list> edge_types,
                                 std::size_t total,
                                 const std::shared_ptr<buffer_pool>& pool) {
  pod_vector<float> out{pool};
  if (std::all_of(edge_types.begin(), edge_types.end(),
                  [](const auto& edges) { return edges.weights.empty(); }))
    return out;
  out.resize(total);
  auto* to = out.data();
  const auto rows = edge_types[0].indptr.size() - 1;
  for (std::size_t row = 0; row < rows; ++row)
    for (const auto& edges : edge_types) {
      const auto begin = edges.indptr[row];
      const auto count = edges.indptr[row + 1] - begin;
      to = edges.weights.empty()
             ? std::fill_n(to, count, 1.0f)
             : std::copy_n(edges.weights.data() + begin, count, to);
    }
  for (auto& edges : edge_types)
    edges.weights = {};
  return out;
}

/// One CSR of all edge types: each row has the lists of all of them, one after
/// the other. Releases the arrays that it has read.
csr merge(std::span<edge_list> edge_types,
          const std::shared_ptr<buffer_pool>& pool) {
  csr out{pod_vector<std::int64_t>{pool}, pod_vector<local_id>{pool}};
  const auto ends = edge_types[0].indptr.size();
  std::size_t total = 0;
  for (const auto& edges : edge_types)
    total += edges.sources.size();
  out.indptr.resize(ends);
  out.indptr[0] = 0;
  out.columns.resize(total);
  auto* to = out.columns.data();
  for (std::size_t row = 0; row + 1 < ends; ++row) {
    for (const auto& edges : edge_types) {
      const auto begin = edges.indptr[row];
      to = std::copy_n(edges.sources.data() + begin,
                       edges.indptr[row + 1] - begin, to);
    }
    out.indptr[row + 1] = to - out.columns.data();
  }
  out.weights = merged_weights(edge_types, total, pool);
  for (auto& edges : edge_types) {
    edges.indptr = {};
    edges.sources = {};
  }
  return out;
}

/// What edges have beside `merge`, in rows; all types have equally wide ones,
/// or none has any.
/// @param rows_of The rows of an edge type by its number; may be empty.
template <class RowsOf>
pod_vector<float> merged_rows(std::span<const edge_list> edge_types,
                              const RowsOf& rows_of, std::int64_t width,
                              const std::shared_ptr<buffer_pool>& pool) {
  pod_vector<float> out{pool};
  std::size_t total = 0;
  for (std::size_t e = 0; e < edge_types.size(); ++e)
    total += rows_of(e).size();
  if (total == 0)
    return out;
  out.resize(total);
  auto* to = out.data();
  for (std::size_t row = 0; row + 1 < edge_types[0].indptr.size(); ++row)
    for (std::size_t e = 0; e < edge_types.size(); ++e) {
      const auto* indptr = edge_types[e].indptr.data() + row;
      to = std::copy_n(rows_of(e).data() + indptr[0] * width,
                       (indptr[1] - indptr[0]) * width, to);
    }
  return out;
}

std::vector<minibatch::relation>
relations_of(fetched_batch& data, const batch_needs& needs,
             const dataset_info& info,
             const std::shared_ptr<buffer_pool>& pool) {
  std::vector<minibatch::relation> out;
  auto& edges = data.graph.edges;
  if (needs.merged_relations && edges.size() > 1) {
    minibatch::relation all;
    if (!data.edge_features.empty())
      all.edge_features = merged_rows(
        edges, [&](std::size_t e) { return data.edge_features[e].span(); },
        info.edge_types.front().feature_width, pool);
    data.edge_features.clear();
    all.ages = merged_rows(
      edges, [&](std::size_t e) { return edges[e].ages.span(); }, 1, pool);
    for (auto& of_type : edges)
      of_type.ages = {};
    all.forward = merge(edges, pool);
    out.push_back(std::move(all));
    return out;
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto& type = info.edge_types[e];
    auto features = data.edge_features.empty()
                      ? pod_vector<float>{pool}
                      : std::move(data.edge_features[e]);
    out.push_back({type.source, type.destination, take_csr(edges[e]),
                   std::move(features), std::move(edges[e].ages)});
  }
  return out;
}

/// Layer l runs over the blocks of the first hops only, so each layer has a
/// transposed CSR of its own: for fewer rows, and for fewer sources.
void add_transposed(minibatch::relation& relation,
                    const sampled_subgraph& graph, bool input_gradient,
                    const std::shared_ptr<buffer_pool>& pool) {
  relation.transposed.resize(static_cast<std::size_t>(graph.hops));
  for (int layer = input_gradient ? 0 : 1; layer < graph.hops; ++layer) {
    const auto blocks = graph.hops - layer;
    relation.transposed[layer] =
      transpose(relation.forward, graph.rows(relation.destination, blocks),
                graph.nodes[relation.source].found[blocks], pool);
  }
}

} // namespace

csr transpose(const csr& forward, std::int64_t rows, std::int64_t sources,
              const std::shared_ptr<buffer_pool>& pool) {
  csr out{pod_vector<std::int64_t>{pool}, pod_vector<local_id>{pool},
          pod_vector<float>{pool}};
  const auto size = static_cast<std::size_t>(sources);
  const auto* indptr = forward.indptr.data();
  const auto* columns = forward.columns.data();
  const auto edges = indptr[rows];
  // Counts are written two places further on. After the running sum, element
  // c + 1 is where row c begins. Each column that is placed moves it on by one,
  // so that in the end it is where row c ends, which is its final value: no
  // second array of positions is needed.
  out.indptr.resize(size + 2);
  std::memset(out.indptr.data(), 0, out.indptr.span().size_bytes());
  auto* counts = out.indptr.data() + 2;
  for (std::int64_t i = 0; i < edges; ++i)
    ++counts[columns[i]];
  for (std::size_t c = 2; c < size + 2; ++c)
    out.indptr[c] += out.indptr[c - 1];
  out.columns.resize(static_cast<std::size_t>(edges));
  auto* ends = out.indptr.data() + 1;
  auto* placed = out.columns.data();
  if (forward.weights.empty()) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (auto i = indptr[row]; i < indptr[row + 1]; ++i)
        placed[ends[columns[i]]++] = static_cast<local_id>(row);
  } else {
    out.weights.resize(out.columns.size());
    for (std::int64_t row = 0; row < rows; ++row)
      for (auto i = indptr[row]; i < indptr[row + 1]; ++i) {
        const auto at = ends[columns[i]]++;
        placed[at] = static_cast<local_id>(row);
        out.weights[static_cast<std::size_t>(at)] =
          forward.weights[static_cast<std::size_t>(i)];
      }
  }
  out.indptr.resize(size + 1);
  return out;
}

result<minibatch> assemble(fetched_batch data, const batch_needs& needs,
                           const dataset_info& info,
                           const std::shared_ptr<buffer_pool>& pool) {
  if (needs.merged_relations && info.node_types.size() > 1)
    return fail(ec::invalid_argument,
                "\"{}\" has {} node types, but the model takes one: use a "
                "relational model",
                info.name, info.node_types.size());
  if (data.graph.edges.size() != info.edge_types.size()
      || data.graph.nodes.size() != info.node_types.size())
    return fail(ec::internal, "a batch of another graph than \"{}\"",
                info.name);
  const auto key = data.key;
  try {
    minibatch out;
    out.data = std::move(data);
    out.relations = relations_of(out.data, needs, info, pool);
    for (auto& relation : out.relations)
      add_transposed(relation, out.data.graph, needs.input_gradient, pool);
    return out;
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory, "no memory to assemble step {} of rank {}",
                key.step, key.rank);
  }
}

} // namespace graphmill
