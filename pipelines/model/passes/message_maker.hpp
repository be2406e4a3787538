#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"
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
/// of sums, and the sums of edges' features. Lives as long as what it makes.
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

private:
  void sum_edges();
  const_matrix features_of(std::size_t relation) const;
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
  std::vector<relation_scales> scales_;
  /// Per relation: [rows of the first layer, edge features], or empty.
  std::vector<owned_matrix> edge_sums_;
};

} // namespace graphmill
