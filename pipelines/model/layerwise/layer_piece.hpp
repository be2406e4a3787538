#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/model/layerwise/original_graph.hpp"
#include "pipelines/model/passes/layer_input.hpp"
#include "pipelines/model/passes/relation_pass.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// What one layer computes for one node type, over all nodes and all their
/// in-neighbours, for inference: rows by pieces, of any of which the result is
/// the same whichever others are computed, and by whom. Borrows all but the
/// pool. Any number of threads may ask for rows at once. Throws what products
/// and allocations throw.
class layer_piece {
public:
  /// A relation into the type.
  struct relation {
    std::size_t number = 0; ///< In the layout.
    std::vector<edge_type_id> edge_types;
    /// By node of the source type: its rows as they enter the layer, or after
    /// the weights that sources go through alone (`transform`).
    const_matrix sources;
    const_matrix
      keys; ///< The same of `attends_across`, whose sources are values.
    bool far = false; ///< They are likely to be on disk: ask ahead for them.
    bool transformed = false;   ///< Of sums: by the relation's weight.
    const_matrix source_scores; ///< [nodes, heads] Of `separate` attention.
    const float* source_scales = nullptr; ///< [nodes] Of symmetric sums.
  };

  struct setting {
    const model_layout* layout = nullptr;
    const parameter_store* parameters = nullptr;
    const original_graph* graph = nullptr;
    int layer = 0;
    node_type_id type = 0;
    /// By node of the type. No columns: it is not read. No data, but columns:
    /// these are the packed features of the type.
    const_matrix input;
    std::vector<relation> relations;
    /// In-degrees of the nodes of the type, of symmetric sums; else null.
    const pod_vector<std::int32_t>* degrees = nullptr;
    /// Beside them, the sums of the weights of in-edges that have some.
    const pod_vector<float>* in_weights = nullptr;
    edge_level level = all_levels; ///< Edges of higher levels are not read.
    bool weights = false;          ///< Whether weights of edges are read.
    bool rounded = false;          ///< Whether features are rounded to float16.
    std::shared_ptr<buffer_pool> pool;
  };

  explicit layer_piece(setting what) : set_(std::move(what)) {}

  /// Rows [begin, end) of the layer's output.
  result<owned_matrix> rows(std::int64_t begin, std::int64_t end) const;

private:
  struct span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t count() const { return end - begin; }
  };

  const layer_layout& shape() const {
    return set_.layout->layers[static_cast<std::size_t>(set_.layer)];
  }
  const_matrix at(int parameter) const {
    return set_.parameters->at(*set_.layout, parameter);
  }

  result<void> add_sums(span piece, float beta, matrix y) const;
  relation_scales scales_of(const relation& from, const csr& edges,
                            span piece) const;
  void add_sum(const relation& from, const csr& edges,
               const relation_scales& scales, span piece, float beta,
               matrix y) const;
  void add_some(const relation& from, const csr& edges,
                const pod_vector<float>& scales, std::int64_t kept, float beta,
                matrix y) const;
  void add_maximum(const relation& from, const csr& edges, float beta,
                   matrix y) const;
  void add_attention(const relation& from, const csr& edges,
                     const_matrix features, const layer_input& own, span piece,
                     float beta, matrix y) const;
  result<void> add_messages(const layer_input& own, span piece, float beta,
                            matrix y) const;
  result<void> add_across(const layer_input& own, span piece, matrix y) const;
  result<csr> edges_of(const relation& from, span piece) const;
  /// [edges, features] Of the same edges; empty if layers read none.
  result<pod_vector<float>> features_of(const relation& from, span piece) const;
  const_matrix as_rows(const relation& from,
                       const pod_vector<float>& features) const;
  void add_edge_sum(const relation& from, const csr& edges,
                    const_matrix features, const relation_scales& scales,
                    matrix y) const;
  void add_edge_relu(const relation& from, const csr& edges,
                     const_matrix features, span piece, float beta,
                     matrix y) const;
  owned_matrix finish(owned_matrix sums, const layer_input& own) const;
  owned_matrix behind_sums(owned_matrix sums, const layer_input& own) const;

  setting set_;
};

} // namespace graphmill
