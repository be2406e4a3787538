#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <cstdint>
#include <memory>

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
  };
  using parameters = basic_parameters<const float>;
  using gradients = basic_parameters<float>;

  /// All but the pool is borrowed for the step.
  struct setting {
    const decoder_layout* decoder = nullptr;
    const link_rows* rows = nullptr;
    std::int64_t classes = 1;
    const_matrix nodes; ///< The stack, [nodes, output width].
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
};

/// The scorer of a decoder.
std::unique_ptr<edge_scorer> make_edge_scorer(const edge_scorer::setting& how);

} // namespace graphmill
