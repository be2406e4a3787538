#pragma once

#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/age_columns.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/step_context.hpp"

#include <cstddef>
#include <vector>

namespace graphmill {

/// The rows that edges bring into layers: their features, and behind these the
/// columns that are made of their ages. One object serves all layers of a step;
/// it is filled when it is made, and refers to the batch.
class edge_inputs {
public:
  /// Throws std::bad_alloc.
  explicit edge_inputs(const step_context& step);

  /// [edges, columns] Of a relation. No data: its edges bring none.
  const_matrix of(std::size_t relation) const { return rows_[relation]; }

  /// [edges, learnt columns] Where the gradient of the last columns is added
  /// up, from zero on. Without columns if none is learnt.
  matrix gradient(std::size_t relation);

  /// Adds the gradients of what makes the columns. Once, after all layers.
  void backward(gradient_set& out);

private:
  age_columns columns_of(std::size_t relation) const;

  step_context step_;
  std::vector<const_matrix> rows_;
  std::vector<owned_matrix> made_;      ///< With columns that are made of ages.
  std::vector<owned_matrix> gradients_; ///< Begun by `gradient`.
};

} // namespace graphmill
