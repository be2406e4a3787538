#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/model/passes/layer_input.hpp"
#include "pipelines/model/passes/skip_gate.hpp"
#include "pipelines/model/passes/step_context.hpp"

#include <cstdint>

namespace graphmill {

/// What a layer computes, for one node type, of the sums of its messages: a
/// second product, of a perceptron or with the gate of graph transformers. The
/// functions of rows may be called by several threads for different rows.
class layer_end {
public:
  /// @pre The layer has a second product for the type. @param step Is borrowed.
  layer_end(const step_context& step, int layer, node_type_id type);

  /// Where the sums go before `forward`, all rows.
  matrix sums();

  /// Makes rows [begin, end) of the layer of their sums.
  /// @param input What enters the layer. @param rows [end - begin, any]
  void forward(const layer_input& input, std::int64_t begin, std::int64_t end,
               matrix rows);

  /// From the gradient of all rows to that of their sums.
  void backward(const layer_input& input, const_matrix upstream,
                gradient_set& out);
  /// Of the sums. @pre `backward` is over.
  const_matrix gradient() const { return gradient_.view(); }

  /// Adds what a gate has of the gradient of its layer's input.
  /// @param upstream The gradient of the rows of `into`.
  void add_input_gradient(const_matrix upstream, matrix into) const;

private:
  bool gated() const { return shape_->gate != absent; }
  skip_gate gate() const {
    return skip_gate{*step_->values_of(shape_->gate).data};
  }
  void backward_perceptron(const_matrix upstream, gradient_set& out);
  void backward_gated(const layer_input& input, const_matrix upstream,
                      gradient_set& out);

  const step_context* step_;
  const layer_type* shape_;
  owned_matrix sums_;     ///< Only with a gate.
  owned_matrix inner_;    ///< The sums after ReLU or GELU.
  owned_matrix gradient_; ///< Of the sums.
};

} // namespace graphmill
