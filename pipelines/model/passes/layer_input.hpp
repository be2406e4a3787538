#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/sparse_input.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// The rows h of a node type that enter a layer: dense, or in a first layer
/// packed features. Borrows both. Products of dense rows are those of
/// `gemm.hpp`, and may throw as they do.
struct layer_input {
  const_matrix rows;                    ///< Its shape, in any case.
  const sparse_input* sparse = nullptr; ///< In place of what `rows` points at.

  /// y = rows [begin, end) times weight + beta y; beta is 0 or 1.
  void multiply(std::int64_t begin, std::int64_t end, const_matrix weight,
                float beta, matrix y) const;

  /// y = the first rows times weight, as many as y has, in chunks.
  void multiply(thread_team& team, const_matrix weight, matrix y) const;

  /// c += transpose of the first rows times gradient, which has as many.
  void add_product_tn(thread_team& team, const_matrix gradient, matrix c,
                      const std::shared_ptr<buffer_pool>& pool) const;
};

} // namespace graphmill
