#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/jumping_head.hpp"
#include "pipelines/model/passes/layer_mean.hpp"
#include "pipelines/model/passes/link_head.hpp"
#include "pipelines/model/passes/model_step.hpp"
#include "pipelines/model/passes/relation_pass.hpp"
#include "pipelines/model/passes/skip_gate.hpp"
#include "pipelines/model/passes/transformer_layer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// Forward and backward of one step on the CPU, by fused kernels and matrix
/// products. Every kind's layers are
///
///   h' = dropout(activation(norm(h W_self + sum over relations m(h) + b)))
///
/// where W_self may be missing and m is a `message_pass` of one of its kinds.
/// With a perceptron, relu(h W_self + sum + b_inner) W_inner stands there for
/// h W_self + sum. With a gate, there stands s gelu(sum) W_inner + (1 - s) h
/// for it, as `skip_gate` has it, and the sum is that of a `transformer_layer`.
/// A residual layer adds h before the norm. With jumping knowledge, a
/// `jumping_head` behind the last layer makes the outputs. Outputs of the
/// target are the logits; in tasks of edges a `link_head` makes these of the
/// outputs of both ends. Layers work in chunks of rows that stay in the cache
/// from the first product to the dropout. Backward is written out by hand: what
/// a layer keeps is its input, its sums and nothing per edge.
///
/// Layer l (from 0) takes the nodes found by the first L - l hops and gives
/// those of the first L - l - 1 hops: rows of its output are the first rows of
/// its input. The calling thread and the helpers of the team work on different
/// chunks; a chunk's result does not depend on who computes it.
class fused_model final : public model_step {
public:
  struct options {
    thread_team* team = nullptr; ///< Borrowed; never null.
    bool training = false;       ///< Dropout is on, and backward will follow.
    std::uint64_t key = 0;       ///< Of the dropout stream.
    std::shared_ptr<buffer_pool> pool;
    float statistic = 0; ///< For `begin_gradients`.
  };

  fused_model(const model_layout& layout, const parameter_store& parameters,
              const minibatch& batch, options how);

  const_matrix forward() override;
  const_matrix last_input() const override;
  const link_ranks* ranks() const override {
    return links_ ? links_->ranks() : nullptr;
  }
  void backward(const_matrix gradient, gradient_set& out,
                const gradient_sink& on_final = {}) override;

private:
  struct type_pass {
    const_matrix input;
    owned_matrix output;
    owned_matrix normalised; ///< Only with layer norm.
    pod_vector<float> inverse_deviation;
    owned_matrix sums; ///< Only with a gate: what the messages add up to.
    /// With a perceptron or a gate: the same after its ReLU or GELU.
    owned_matrix inner;
    owned_matrix inner_gradient; ///< Of what the messages add up to.
    owned_matrix gradient;       ///< Of the output before the activation.
  };
  struct layer_pass {
    std::vector<type_pass> types;
    std::vector<std::unique_ptr<message_pass>> relations;
    /// In their place, where relations share their attention.
    std::unique_ptr<transformer_layer> transformer;
  };

  std::int64_t input_rows(int layer, node_type_id type) const;
  std::int64_t output_rows(int layer, node_type_id type) const;
  dropout dropout_of(int layer, node_type_id type) const;
  float dropout_scale(int layer, node_type_id type) const;

  void make_scales();
  void make_inputs();
  const_matrix unpack_input(node_type_id type, std::int64_t rows);
  layer_input input_of(int layer, node_type_id type) const;
  void begin_layer(int layer);
  std::unique_ptr<message_pass> make_pass(int layer, std::size_t relation);
  bool leads_bases(std::size_t relation) const;
  std::unique_ptr<message_pass> make_basis_pass(int layer,
                                                std::size_t relation);
  std::unique_ptr<message_pass>
  make_attention(int layer, std::size_t relation,
                 const message_pass::setting& common);
  const_matrix values_of(int parameter) const;
  skip_gate gate_of(int layer, node_type_id type) const;
  std::unique_ptr<transformer_layer> make_transformer(int layer);
  void forward_gated(int layer, node_type_id type, std::int64_t begin,
                     std::int64_t end, matrix rows);
  void backward_gated(int layer, node_type_id type, gradient_set& out);
  void backward_transformer(int layer, gradient_set& out);
  void add_gate_gradient(int layer, node_type_id type, std::int64_t begin,
                         std::int64_t end, matrix rows) const;
  void forward_type(int layer, node_type_id type);
  void finish_rows(int layer, node_type_id type, std::int64_t begin,
                   std::int64_t end);
  const_matrix sum_gradient(int layer, node_type_id type) const;
  void backward_perceptron(int layer, node_type_id type, gradient_set& out);
  void make_heads();
  const_matrix output_of(node_type_id type);
  void begin_backward(const_matrix gradient, gradient_set& out);
  void begin_backward(node_type_id type, const_matrix gradient,
                      gradient_set& out);
  void backward_weights(int layer, gradient_set& out);
  void backward_input(int layer, node_type_id type, gradient_set& out);
  void forward_rows(int layer, node_type_id type, std::int64_t begin,
                    std::int64_t end);
  void backward_rows(int layer, node_type_id type, std::int64_t begin,
                     std::int64_t end, matrix gradient);
  void finish_gradient(int layer, node_type_id type, std::int64_t begin,
                       std::int64_t end, matrix gradient, float* sums);
  void table_gradients(gradient_set& out);
  matrix gradient_of(int parameter, gradient_set& out) const;

  const model_layout& layout_;
  const parameter_store& parameters_;
  const minibatch& batch_;
  options how_;
  std::vector<relation_scales> scales_;
  /// Of tables, of packed features, or after input dropout.
  std::vector<owned_matrix> inputs_;
  /// Of packed features that are multiplied as they are; `inputs_` and the
  /// input of the first layer then have no values.
  std::vector<std::optional<sparse_input>> sparse_;
  std::vector<owned_matrix> input_gradients_;
  std::vector<layer_pass> layers_;
  /// Per node type with outputs; empty without jumping knowledge.
  std::vector<std::optional<jumping_head>> heads_;
  /// Likewise, of kinds whose outputs are means over layers.
  std::vector<std::optional<layer_mean>> means_;
  std::optional<link_head> links_; ///< Only in tasks of edges.
};

} // namespace graphmill
