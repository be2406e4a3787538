#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// The mean of what enters the first layer and what all layers give, for the
/// seeds of a node type (He et al., "LightGCN", SIGIR'20). One object serves
/// one step; not thread-safe, but for `add_gradient`, which several threads may
/// call for different rows.
class layer_mean {
public:
  /// @param layers Without what enters the first one.
  layer_mean(std::int64_t seeds, std::int64_t width, int layers,
             const std::shared_ptr<buffer_pool>& pool);

  /// Takes the input of the first layer, then the output of each; the first
  /// rows are those of the seeds.
  void add(const_matrix rows);

  /// After all layers: [seeds, width].
  const_matrix forward() const { return mean_.view(); }

  /// @param gradient Of the mean.
  void backward(const_matrix gradient);

  /// After `backward`: adds rows [begin, end) of the gradient of each of the
  /// terms to `x` (the same rows). Rows behind the seeds get nothing.
  void add_gradient(std::int64_t begin, std::int64_t end, matrix x) const;

private:
  float share_; ///< Of each term.
  std::shared_ptr<buffer_pool> pool_;
  owned_matrix mean_;
  owned_matrix gradient_; ///< Of each term.
};

} // namespace graphmill
