#pragma once

#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/links/link_losses.hpp"
#include "pipelines/kernels/matrix.hpp"

namespace graphmill {

/// Forward and backward of a model on one batch. One object serves one step:
/// `forward` once, then, if it was made for training, `backward` once. Borrows
/// layout, parameters and batch, which must stay as they are meanwhile. Not
/// thread-safe. May throw what libtorch, products and allocations throw.
class model_step {
public:
  virtual ~model_step() = default;

  /// The logits, [seeds, classes], or [rows, slots] for links (`link_head`), in
  /// memory of this object; valid until `backward` and no longer than the
  /// object.
  virtual const_matrix forward() = 0;

  /// The seeds' rows as they enter the last layer; after `forward`. In tasks of
  /// edges the outputs of both ends of each row, [rows, 2 output width], the
  /// source's first.
  virtual const_matrix last_input() = 0;

  /// After `forward`, of links that are ranked among all nodes: what they have
  /// in place of logits. Null: there are none.
  virtual const link_ranks* ranks() const { return nullptr; }

  /// Computes all gradients; may free what forward has left.
  /// @param gradient Of the loss by the logits, in their shape.
  /// @param out Set, whatever it held before.
  /// @param on_final May be told from which offset on dense gradients are
  /// final; offsets descend.
  virtual void backward(const_matrix gradient, gradient_set& out,
                        const gradient_sink& on_final = {}) = 0;
};

} // namespace graphmill
