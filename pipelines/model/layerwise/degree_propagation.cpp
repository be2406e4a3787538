#include "pipelines/model/layerwise/degree_propagation.hpp"

#include "pipelines/kernels/gather_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace graphmill {

result<degree_propagation>
degree_propagation::create(const original_graph& graph, std::int64_t width,
                           edge_level level, bool weights) {
  degree_propagation out{graph, width, level, weights};
  const auto types = static_cast<node_type_id>(graph.info().node_types.size());
  for (node_type_id type = 0; type < types; ++type) {
    GRAPHMILL_TRY(auto degrees, graph.in_degrees(type, level));
    out.degrees_.push_back(std::move(degrees));
    if (weights) {
      GRAPHMILL_TRY(auto sums, graph.in_weights(type, level));
      out.in_weights_.push_back(std::move(sums));
    }
    auto& scales = out.column_scales_.emplace_back();
    scales.resize(static_cast<std::size_t>(graph.count(type)));
    for (node_id node = 0; node < graph.count(type); ++node)
      scales[static_cast<std::size_t>(node)] =
        static_cast<float>(out.inverse_root(type, node));
  }
  return out;
}

/// One over the root of what the in-edges of a node weigh.
double degree_propagation::inverse_root(node_type_id type, node_id node) const {
  const auto t = static_cast<std::size_t>(type);
  const auto at = static_cast<std::size_t>(node);
  const auto sum =
    weights_ ? double(in_weights_[t][at]) : double(degrees_[t][at]);
  return sum > 0 ? 1 / std::sqrt(sum) : 0.0;
}

result<owned_matrix>
degree_propagation::rows(node_type_id type, std::span<const relation> relations,
                         std::int64_t begin, std::int64_t end,
                         const std::shared_ptr<buffer_pool>& pool) const {
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<csr> edges;
  std::vector<std::int64_t> taken(count);
  for (const auto& from : relations) {
    auto& found = edges.emplace_back(csr{pod_vector<std::int64_t>{pool},
                                         pod_vector<local_id>{pool},
                                         pod_vector<float>{pool}});
    GRAPHMILL_TRYV(
      graph_->neighbours(from.edge_types, begin, end, level_, weights_, found));
    for (std::size_t i = 0; i < count; ++i)
      taken[i] += found.indptr[i + 1] - found.indptr[i];
  }
  std::vector<float> scales(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = begin + static_cast<node_id>(i);
    const auto degree =
      degrees_[static_cast<std::size_t>(type)][static_cast<std::size_t>(node)];
    if (taken[i] != 0)
      scales[i] = static_cast<float>(double(degree) / double(taken[i])
                                     * inverse_root(type, node));
  }
  owned_matrix out{end - begin, width_, pool};
  if (relations.empty())
    std::fill_n(out.data(), out.view().size(), 0.0f);
  for (std::size_t r = 0; r < edges.size(); ++r) {
    const auto source = static_cast<std::size_t>(relations[r].source);
    run(gather_sum{.indptr = edges[r].indptr.data(),
                   .columns = edges[r].columns.data(),
                   .x = relations[r].sources,
                   .row_scale = scales.data(),
                   .column_scale = column_scales_[source].data(),
                   .values = edges[r].weights_or_null()},
        0, end - begin, r == 0 ? 0 : end - begin, out.view());
  }
  return out;
}

} // namespace graphmill
