#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// Jumping knowledge (Xu et al., "Representation learning on graphs with
/// jumping knowledge networks", ICML'18): what all layers give for the seeds,
/// side by side, times a weight matrix, plus a bias, are the logits. One object
/// serves one step; not thread-safe, but for `add_gradient`, which several
/// threads may call for different rows.
class jumping_head {
public:
  /// All but the pool is borrowed for the step.
  struct setting {
    const_matrix weight; ///< [layers times their width, classes]
    const float* bias = nullptr;
    std::int64_t seeds = 0;
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
  };

  explicit jumping_head(const setting& options);

  /// Takes the output of the next layer, from the first one on; its first rows
  /// are those of the seeds.
  void add_layer(const_matrix output);

  /// The rows that enter the head, after all layers: [seeds, width].
  const_matrix joined() const { return joined_.view(); }

  /// The logits, [seeds, classes]; after all layers.
  const_matrix forward();

  /// Adds the gradients of weight and bias.
  /// @param gradient Of the logits.
  /// @param bias [classes]
  void backward(const_matrix gradient, matrix weight, float* bias);

  /// After `backward`: adds rows [begin, end) of the gradient of what layer
  /// `layer` gives to `x` (the same rows). Rows behind the seeds get nothing.
  void add_gradient(int layer, std::int64_t begin, std::int64_t end,
                    matrix x) const;

private:
  setting set_;
  std::int64_t filled_ = 0; ///< Columns of `joined_` so far.
  owned_matrix joined_;
  owned_matrix logits_;
  owned_matrix gradient_; ///< Of `joined_`.
};

} // namespace graphmill
