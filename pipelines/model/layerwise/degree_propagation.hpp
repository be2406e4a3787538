#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/layerwise/original_graph.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// Layers without weights over all nodes and all their in-neighbours: sums of
/// neighbours by degrees, as `degree_scales` has them of batches. Borrows the
/// graph. Any number of threads may ask for rows at once.
class degree_propagation {
public:
  /// Edges into a type.
  struct relation {
    node_type_id source = 0;
    std::vector<edge_type_id> edge_types; ///< That are sampled; may be none.
    const_matrix sources;                 ///< By node of the source type.
  };

  /// @param width Of all rows.
  /// @param level Edges of higher levels do not count.
  /// @param weights Whether edges weigh what they weigh on record.
  static result<degree_propagation> create(const original_graph& graph,
                                           std::int64_t width, edge_level level,
                                           bool weights);

  /// What a layer gives for nodes [begin, end) of a type.
  /// @param relations All into the type.
  result<owned_matrix> rows(node_type_id type,
                            std::span<const relation> relations,
                            std::int64_t begin, std::int64_t end,
                            const std::shared_ptr<buffer_pool>& pool) const;

private:
  degree_propagation(const original_graph& graph, std::int64_t width,
                     edge_level level, bool weights)
    : graph_(&graph), width_(width), level_(level), weights_(weights) {}

  double inverse_root(node_type_id type, node_id node) const;

  const original_graph* graph_;
  std::int64_t width_;
  edge_level level_;
  bool weights_;
  std::vector<pod_vector<std::int32_t>> degrees_; ///< Per node type.
  std::vector<pod_vector<float>> in_weights_;     ///< Likewise, with weights.
  std::vector<pod_vector<float>> column_scales_;  ///< Per node type.
};

} // namespace graphmill
