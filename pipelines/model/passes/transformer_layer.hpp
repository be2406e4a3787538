#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/attention/projected_attention.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/layer_input.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// The messages of all relations in one layer of a heterogeneous graph
/// transformer in one step (Hu et al., WWW'20), and their gradients: of node
/// type t,
///
///   y_t[i] = sum over relations r into t, and sources j of i in r, of
///            softmax(k[j] A_r q[i] prior_r / sqrt(d)) * v[j] M_r
///
/// with keys k, queries q and values v that each type makes of its rows, head
/// by head; the softmax is over the sources in all relations. Keys and values
/// are made once for a type: A_r is applied to queries, and M_r to sums.
///
/// Where edges of r have features e, e E_r is added to both k[j] and v[j]. No
/// row e E_r is made: features are scored by queries times E_r, and summed.
///
/// Made once per layer. Forward then asks for every row once; in a step of
/// training come one `backward` and all rows of the input's gradient.
/// `add_output` and `add_input_gradient` may be called by several threads for
/// different rows; `backward` uses the team itself and is called by the owner.
/// All of them may throw std::bad_alloc, and what products of matrices throw.
class transformer_layer {
public:
  /// What the layer knows of a node type. Weights without data: none of its
  /// relations asks for what they make.
  struct type_parts {
    layer_input input; ///< h
    std::int64_t rows = 0;
    const_matrix key; ///< [in, width]; keys have no bias.
    const_matrix value;
    const float* value_bias = nullptr;
    const_matrix query;
    const float* query_bias = nullptr;
  };
  /// What it knows of a relation.
  struct relation_parts {
    node_type_id source = 0;
    node_type_id destination = 0;
    const csr* forward = nullptr;    ///< Null: the layer does not ask for it.
    const csr* transposed = nullptr; ///< Null: there is no backward.
    const_matrix attention;          ///< [heads * d, d] A_r, head below head.
    const_matrix message;            ///< [heads * d, d] M_r
    const float* prior = nullptr;    ///< [heads]
    dropout drop;                    ///< Of weights of edges.
    /// [edges, any] No data: edges have none.
    const_matrix features = {};
    const_matrix edge_weight = {};      ///< [any, heads * d] E_r
    const float* log_weights = nullptr; ///< [edges] Null: they weigh 1.
  };
  /// All but the pool is borrowed for the step.
  struct setting {
    std::vector<type_parts> types;         ///< One per node type.
    std::vector<relation_parts> relations; ///< One per relation.
    std::int64_t heads = 1;
    std::int64_t width = 0; ///< Of all heads together.
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
  };

  /// Where gradients are added, shaped as the weights; no data where these have
  /// none.
  struct type_targets {
    matrix key, value, query;
    float* value_bias = nullptr;
    float* query_bias = nullptr;
  };
  struct relation_targets {
    matrix attention, message;
    float* prior = nullptr;
    matrix edge_weight = {};
    matrix edge_columns = {}; ///< As in `message_pass::targets`.
  };

  explicit transformer_layer(setting options);

  /// y = rows [begin, end) of y_t, [end - begin, width].
  void add_output(node_type_id type, std::int64_t begin, std::int64_t end,
                  matrix y);

  /// @param gradients Of y_t, all rows, one per node type; not read where there
  /// is no query. They must stay.
  void backward(const std::vector<const_matrix>& gradients,
                const std::vector<type_targets>& types,
                const std::vector<relation_targets>& relations);

  /// Sets rows [begin, end) of the gradient of h to 0 from `filled` on, and
  /// adds what flows back. @param x These rows.
  void add_input_gradient(node_type_id type, std::int64_t begin,
                          std::int64_t end, std::int64_t filled,
                          matrix x) const;

private:
  struct type_state {
    owned_matrix keys, values; ///< [rows of the input, width]
    owned_matrix queries;      ///< [rows, width]
    owned_matrix key_gradient; ///< Shaped as they are.
    owned_matrix value_gradient;
    owned_matrix query_gradient;
    std::vector<std::size_t> into; ///< Relations with this destination.
    std::vector<projected_attention::relation> work; ///< One for each of them.
  };
  struct relation_state {
    owned_matrix to_queries;  ///< `query_map`
    owned_matrix to_messages; ///< `message_map`
    owned_matrix queries;     ///< [rows, width] As A_r maps them.
    owned_matrix weights;     ///< [edges, heads]
    owned_matrix dropped_weights;
    owned_matrix sums; ///< [rows, width] Ahead of M_r.
    /// Where edges have features: `feature_map` of E_r, and [rows, heads * any]
    /// queries of features, and sums of them.
    owned_matrix to_features;
    owned_matrix edge_queries, feature_sums;
    owned_matrix edge_queries_gradient, feature_sums_gradient;
    owned_matrix sums_gradient;
    owned_matrix score_gradient; ///< [edges, heads]
    owned_matrix queries_gradient;
  };

  void project(const type_parts& from, type_state& into) const;
  void begin_relation(std::size_t relation);
  projected_attention task(node_type_id type) const;
  void backward_type(node_type_id type, const_matrix gradient,
                     const std::vector<relation_targets>& targets);
  void backward_sources(std::size_t relation, const projected_gradients& of,
                        const projected_attention::relation& work);
  void backward_edges(std::size_t relation,
                      const projected_attention::relation& work,
                      const relation_targets& into);
  void backward_queries(std::size_t relation, bool first,
                        const relation_targets& into);
  void backward_projections(const type_parts& from, const type_state& at,
                            const type_targets& into) const;
  owned_matrix product_tn(const_matrix a, const_matrix b) const;

  setting set_;
  std::vector<type_state> types_;
  std::vector<relation_state> relations_;
};

} // namespace graphmill
