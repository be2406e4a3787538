#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The values of a model's parameters: one flat buffer for the dense ones, so
/// that optimizer and gradient sums are single loops, and one per table.
struct parameter_store {
  pod_vector<float> dense;               ///< [layout.dense_size]
  std::vector<pod_vector<float>> tables; ///< [rows, width] each

  /// A dense parameter of the layout by its number, in memory of this store.
  matrix at(const model_layout& layout, int parameter);
  const_matrix at(const model_layout& layout, int parameter) const;
};

parameter_store copy_of(const parameter_store& from);

/// Glorot uniform (Glorot and Bengio, AISTATS'10) for weights; embedding rows
/// uniform with variance scale^2 / width, so that a row is about as long as the
/// table's scale says (`model.embedding_scale`). Draws
/// are keyed by the run seed alone: element i of parameter p comes from counter
/// (i / 4; p; 0), a table's row from its original id.
parameter_store initial_parameters(const model_layout& layout,
                                   std::uint64_t run_seed);

/// Makes room for the dense gradients of a step, zeros so far.
/// @param statistic What stands behind them, if the layout has room for it.
void begin_gradients(const model_layout& layout, float statistic,
                     gradient_set& out);

/// Copies all values, dense parameters and tables, under their names, each with
/// `prefix` before it.
std::vector<named_tensor> to_tensors(const model_layout& layout,
                                     const parameter_store& from,
                                     std::string_view prefix = {});

/// Replaces all values, or none when a name, with `prefix` before it, is
/// missing or a shape differs. Other tensors are passed over.
result<void> from_tensors(const model_layout& layout,
                          const std::vector<named_tensor>& tensors,
                          parameter_store& into, std::string_view prefix = {});

/// XXH3-128 over names, shapes and values, hexadecimal.
std::string digest_of(const model_layout& layout, const parameter_store& of);

} // namespace graphmill
