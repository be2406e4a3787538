#pragma once

#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/model/torch/torch_operations.hpp"

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace graphmill {

/// One layer of a heterogeneous graph transformer by libtorch's operations, as
/// `transformer_layer` and `skip_gate` have it. Borrows all arrays.
struct torch_transformer {
  const model_layout& layout;
  const std::vector<at::Tensor>& parameters; ///< By their number.
  const std::vector<at::Tensor>& h;          ///< What enters it, by node type.
  int layer = 0;
  /// The edges of a relation into the rows that leave the layer.
  std::function<edge_tensors(std::size_t relation)> edges;
  /// Of the weights of a relation's edges.
  std::function<dropout(std::size_t relation)> drop;

  /// What it gives for the first `rows` nodes of a type, without its bias.
  /// [rows, out]
  at::Tensor output(std::size_t type, std::int64_t rows) const;

private:
  const layer_layout& shape() const {
    return layout.layers[static_cast<std::size_t>(layer)];
  }
  const at::Tensor& at(int parameter) const {
    return parameters[static_cast<std::size_t>(parameter)];
  }
  at::Tensor messages(std::size_t type, std::int64_t rows) const;
};

} // namespace graphmill
