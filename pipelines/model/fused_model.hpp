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
#include "pipelines/model/passes/layer_end.hpp"
#include "pipelines/model/passes/layer_mean.hpp"
#include "pipelines/model/passes/link_head.hpp"
#include "pipelines/model/passes/message_maker.hpp"
#include "pipelines/model/passes/message_pass.hpp"
#include "pipelines/model/passes/model_inputs.hpp"
#include "pipelines/model/passes/model_step.hpp"
#include "pipelines/model/passes/step_context.hpp"
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
/// Both are computed by a `layer_end`.
/// A residual layer adds h before the norm. With jumping knowledge, a
/// `jumping_head` behind the last layer makes the outputs. Outputs of the
/// target are the logits; in tasks of edges a `link_head` makes these of the
/// outputs of both ends. `model_inputs` brings what enters the first layer, and
/// a `message_maker` makes the passes. Layers work in chunks of rows that stay
/// in the cache from the first product to the dropout. Backward is written out
/// by hand: what a layer keeps is its input, its sums and, unless edges have
/// features, nothing per edge.
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
  const_matrix last_input() override;
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
    std::optional<layer_end> end; ///< Only with a second product.
    owned_matrix gradient;        ///< Of the output before the activation.
  };
  struct layer_pass {
    std::vector<type_pass> types;
    std::vector<std::unique_ptr<message_pass>> relations;
    /// What the features of their edges bring besides, or null.
    std::vector<std::unique_ptr<message_pass>> edge_terms;
    /// In their place, where relations share their attention.
    std::unique_ptr<transformer_layer> transformer;
  };

  void make_inputs();
  layer_input input_of(int layer, node_type_id type) const;
  void begin_layer(int layer);
  void backward_transformer(int layer, gradient_set& out);
  void forward_type(int layer, node_type_id type);
  void finish_rows(int layer, node_type_id type, std::int64_t begin,
                   std::int64_t end);
  const_matrix sum_gradient(int layer, node_type_id type) const;
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

  const model_layout& layout_;
  const parameter_store& parameters_;
  const minibatch& batch_;
  options how_;
  step_context step_; ///< Of all the above.
  message_maker messages_;
  std::optional<model_inputs> inputs_; ///< From `forward` on.
  std::vector<owned_matrix> input_gradients_;
  std::vector<layer_pass> layers_;
  /// Per node type with outputs; empty without jumping knowledge.
  std::vector<std::optional<jumping_head>> heads_;
  /// Likewise, of kinds whose outputs are means over layers.
  std::vector<std::optional<layer_mean>> means_;
  std::optional<link_head> links_; ///< Only in tasks of edges.
};

} // namespace graphmill
