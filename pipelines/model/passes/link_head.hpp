#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/links/link_losses.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/edge_scorer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// Makes logits of the outputs of the nodes at both ends of edges, and for
/// links of their negatives. Outputs of several node types are copied into one
/// matrix, the stack. One object serves one step; not thread-safe.
///
/// Logits of links are [rows, slots], as `link_slots` has them; those of other
/// tasks of edges [rows, classes].
class link_head {
public:
  /// All but the pool is borrowed for the step.
  struct setting {
    const model_layout* layout = nullptr; ///< With a decoder.
    const parameter_store* parameters = nullptr;
    const seed_batch* rows = nullptr;
    const float* row_features = nullptr; ///< If the decoder reads some.
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
  };

  /// @param outputs Per node type: those of its seeds, if it has outputs. They
  /// must stay until the end of `backward`.
  link_head(const setting& options, std::span<const const_matrix> outputs);

  const_matrix forward();

  /// After `forward`, if the batch has a `full_ranking`: what it came to.
  /// Logits are those of edges and of negatives of their own then.
  const link_ranks* ranks() const { return ranks_ ? &*ranks_ : nullptr; }

  /// The outputs of both ends of each row, [rows, 2 output width], the source's
  /// first; in memory of this object.
  const_matrix ends();

  /// Adds the gradients of the decoder's parameters.
  /// @param gradient Of the logits.
  void backward(const_matrix gradient, gradient_set& out);

  /// After `backward`: the gradient of the outputs of a node type.
  const_matrix gradient_of(node_type_id type) const;

private:
  const_matrix row_features() const;
  bool adds_features() const;
  template <class T>
  basic_matrix<T> by_rows(basic_matrix<T> logits) const;

  setting set_;
  std::vector<std::int64_t> offsets_; ///< Per node type, in the stack; and end.
  owned_matrix copied_;               ///< The stack, of several node types.
  const_matrix stack_;
  link_rows rows_;
  std::unique_ptr<edge_scorer> scorer_;
  owned_matrix logits_;
  owned_matrix ends_;
  std::optional<link_ranks> ranks_;
  owned_matrix gradient_; ///< Of the stack.
};

} // namespace graphmill
