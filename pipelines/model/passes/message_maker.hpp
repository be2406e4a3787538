#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/edge_rows.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/edge_inputs.hpp"
#include "pipelines/model/passes/layer_input.hpp"
#include "pipelines/model/passes/message_pass.hpp"
#include "pipelines/model/passes/relation_pass.hpp"
#include "pipelines/model/passes/step_context.hpp"
#include "pipelines/model/passes/transformer_layer.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// Makes what relations bring to the layers of a step: for each kind of model
/// its kind of `message_pass`. Owns what is the same in all layers: the scales
/// of sums, logarithms of weights, what edges bring, and the sums of that.
/// Lives as long as what it makes.
class message_maker {
public:
  /// Throws std::bad_alloc.
  explicit message_maker(const step_context& step);

  /// The messages of a relation. Null: the layer takes none of it, or another
  /// relation brings them, too.
  /// @param inputs Of the layer, by node type.
  std::unique_ptr<message_pass> make(int layer, std::size_t relation,
                                     std::span<const layer_input> inputs) const;

  /// What the features of a relation's edges bring beside its messages. Null:
  /// nothing, or it is in these.
  std::unique_ptr<message_pass> make_edge_term(int layer,
                                               std::size_t relation) const;

  /// All messages of a layer whose relations share their attention.
  std::unique_ptr<transformer_layer>
  make_transformer(int layer, std::span<const layer_input> inputs) const;

  /// For `message_pass::targets::edge_columns` of all layers.
  matrix edge_columns(std::size_t relation);

  /// Adds the gradients of what makes columns of edges. Once, after all layers.
  void backward(gradient_set& out);

private:
  void sum_edges();
  edge_sum sum_of(std::size_t relation) const;
  const float* log_weights_of(std::size_t relation) const {
    return log_weights_[relation].empty() ? nullptr
                                          : log_weights_[relation].data();
  }
  const csr* transposed_of(int layer, std::size_t relation) const;
  bool leads_bases(std::size_t relation) const;
  std::unique_ptr<message_pass>
  make_basis_pass(int layer, std::size_t relation,
                  std::span<const layer_input> inputs) const;
  std::unique_ptr<message_pass>
  make_edge_relu(int layer, std::size_t relation,
                 const message_pass::setting& common) const;
  std::unique_ptr<message_pass>
  make_attention(int layer, std::size_t relation,
                 std::span<const layer_input> inputs,
                 const message_pass::setting& common) const;

  step_context step_;
  edge_inputs edges_;
  std::vector<relation_scales> scales_;
  /// Per relation: `logs_of_weights`, of kinds that attend.
  std::vector<pod_vector<float>> log_weights_;
  /// Per relation: [rows of the first layer, edge columns], or empty.
  std::vector<owned_matrix> edge_sums_;
  /// Of their last columns, if these are learnt. Begun by `edge_columns`.
  std::vector<owned_matrix> edge_sum_gradients_;
};

} // namespace graphmill
