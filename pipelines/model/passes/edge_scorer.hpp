#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace graphmill {

/// What a decoder makes of the rows of a batch: logits of a stack of outputs,
/// and gradients. One object serves one step: `forward` once, then, in
/// training, `backward` once. Not thread-safe; uses the team itself. Results
/// are the same for any number of threads. May throw std::bad_alloc.
class edge_scorer {
public:
  /// Where the parameters of a decoder are, or their gradients; what it does
  /// not have is empty. Shapes are those of `decoder_layout`.
  template <class T>
  struct basic_parameters {
    basic_matrix<T> relation;
    basic_matrix<T> matrices;
    basic_matrix<T> hidden_weight;
    basic_matrix<T> hidden_bias;
    basic_matrix<T> output_weight;
    basic_matrix<T> edge_weight;
  };
  using parameters = basic_parameters<const float>;
  using gradients = basic_parameters<float>;

  /// All but the pool is borrowed for the step.
  struct setting {
    const decoder_layout* decoder = nullptr;
    const link_rows* rows = nullptr;
    std::int64_t classes = 1;
    const_matrix nodes; ///< The stack, [nodes, output width].
    /// [rows, features] Of the rows' edges, if the decoder reads them.
    const_matrix row_features = {};
    parameters values;
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
  };

  virtual ~edge_scorer() = default;

  /// @param out [rows, slots], or [rows, classes] with more than one class,
  /// which have no negatives.
  virtual void forward(matrix out) = 0;

  /// Adds all gradients.
  /// @param gradient Of what `forward` has given.
  /// @param nodes Of the stack.
  virtual void backward(const_matrix gradient, const gradients& into,
                        matrix nodes) = 0;

  // Of links that are ranked among all nodes: after `forward`, one list after
  // the other. Others have no such lists. Nodes with the same outputs get the
  // same score, wherever they are.

  /// Makes ready for a list, which must stay until the next one.
  virtual void begin_ranking(const link_rows::full_list&) {}
  /// out[i][k] = the score of a row with node `begin` + k of the list at its
  /// end. What is past the end of the list may be anything. Different threads
  /// may ask at once, and of own nodes, too. @param rows Of the list.
  /// @param out [rows, a multiple of panel_nodes]
  virtual void score_nodes(std::span<const std::int32_t>, std::int64_t,
                           matrix) const {}
  /// out[i] = the same with the row's own node at this end.
  virtual void score_own_nodes(std::span<const std::int32_t>, float*) const {}
};

/// The scorer of a decoder.
std::unique_ptr<edge_scorer> make_edge_scorer(const edge_scorer::setting& how);

} // namespace graphmill
