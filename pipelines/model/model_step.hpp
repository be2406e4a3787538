#pragma once

#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/matrix.hpp"

namespace graphmill {

/// Forward and backward of a model on one batch. May throw.
class model_step {
public:
  virtual ~model_step() = default;

  /// [seeds, classes]
  virtual const_matrix forward() = 0;

  /// The seeds' rows as they enter the last layer; after `forward`.
  virtual const_matrix last_input() const = 0;

  /// Sets all gradients; once, after `forward` while training.
  /// @param gradient Of the logits.
  /// @param on_final May be told of dense gradients that are final.
  virtual void backward(const_matrix gradient, gradient_set& out,
                        const gradient_sink& on_final = {}) = 0;
};

} // namespace graphmill
