#pragma once

#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/layer_input.hpp"
#include "pipelines/model/passes/sparse_input.hpp"
#include "pipelines/model/passes/step_context.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace graphmill {

/// The rows that enter the first layer: features, or rows of tables, after
/// dropout; packed features as sparse matrices, where they are multiplied as
/// they are, or else unpacked. One object serves one step; it is filled when it
/// is made, and refers to the batch.
class model_inputs {
public:
  /// Throws std::bad_alloc.
  explicit model_inputs(const step_context& step);

  /// Of a node type; without columns if the first layer reads none of it.
  layer_input of(node_type_id type) const {
    return {rows_[type], sparse_[type] ? &*sparse_[type] : nullptr};
  }

private:
  void fill(const step_context& step, node_type_id type);
  const_matrix unpack_rows(const step_context& step, node_type_id type,
                           std::int64_t rows);

  std::vector<const_matrix> rows_;
  /// Of tables, of packed features, or after input dropout.
  std::vector<owned_matrix> made_;
  /// Of packed features that are multiplied as they are; `rows_` then have no
  /// values.
  std::vector<std::optional<sparse_input>> sparse_;
};

} // namespace graphmill
