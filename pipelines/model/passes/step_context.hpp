#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// What all of a step on the CPU refers to. Borrows all but the pool. Value
/// type.
struct step_context {
  const model_layout& layout;
  const parameter_store& parameters;
  const minibatch& batch;
  thread_team* team = nullptr; ///< Never null.
  bool training = false;       ///< Dropout is on, and backward will follow.
  std::uint64_t key = 0;       ///< Of the dropout stream.
  std::shared_ptr<buffer_pool> pool{};

  /// Rows of a node type that enter a layer, from 0, and that leave it.
  std::int64_t input_rows(int layer, node_type_id type) const {
    return batch.data.graph.nodes[type].found[layout.hops - layer];
  }
  std::int64_t output_rows(int layer, node_type_id type) const {
    return batch.data.graph.nodes[type].found[layout.hops - layer - 1];
  }

  /// Of the rows of a type that enter a layer.
  dropout dropout_of(int layer, node_type_id type) const {
    const auto off =
      !training
      || (layer == 0 ? !layout.traits.drop_input : layout.traits.looks_up);
    return {.key = key,
            .stream = stream_of(layer, type, batch.data.key.rank),
            .threshold = off ? 0 : layout.drop_threshold};
  }

  /// No data for `absent`.
  const_matrix values_of(int parameter) const {
    return parameter == absent ? const_matrix{}
                               : parameters.at(layout, parameter);
  }

  /// Where the gradient of a parameter is added up.
  matrix gradient_of(int parameter, gradient_set& out) const {
    const auto& info = layout.parameters[static_cast<std::size_t>(parameter)];
    const auto columns = info.shape.back();
    return {out.dense.data() + info.offset, info.size / columns, columns};
  }
};

} // namespace graphmill
