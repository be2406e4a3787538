#pragma once

#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/pipelines/model/reference.hpp"

#include <random>

namespace graphmill::test {

/// Three node types, one of them without features.
inline const toy_options small_typed{
  .nodes = {6, 5, 4},
  .widths = {3, 0, 2},
  .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}, {2, 1}, {1, 2}},
  .in_edges = 2};

/// Loads values that are nowhere zero (biases start at zero) into both.
void randomise(replica& model, reference_model& reference,
               std::mt19937_64& random);

/// Compares gradients with derivatives of the reference's loss by central
/// differences.
void compare_gradients(const model_layout& layout, reference_model& reference,
                       const gradient_set& got);

/// Compares the loss and all gradients of a new model on a batch, of a rank
/// beside others, with those of the plain one.
void check_gradients(const definition& def, const toy_graph& graph,
                     const std::vector<node_id>& seeds, int fanout,
                     std::mt19937_64& random);

} // namespace graphmill::test
