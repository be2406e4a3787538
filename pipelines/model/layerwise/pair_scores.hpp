#pragma once

#include "messages/base/error.hpp"
#include "pipelines/flow/seed_table.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"

#include <functional>
#include <span>
#include <vector>

namespace graphmill {

/// What a decoder makes of edges, of the outputs of all nodes: for each edge,
/// which the graph need not have, its score or its logits. Edges meet the
/// decoder in blocks, so that memory is bounded but for the result.
/// @param layout With a decoder that reads no features of edges.
/// @param outputs By `model_layout::outputs`, by original id.
/// @param edges Of nodes that there are.
/// @param stopped Whether to give up with `cancelled`. May be empty.
/// @returns [edges, classes]
result<std::vector<float>> score_pairs(const model_layout& layout,
                                       const parameter_store& parameters,
                                       std::span<const const_matrix> outputs,
                                       std::span<const named_edge> edges,
                                       unsigned threads,
                                       const std::function<bool()>& stopped);

} // namespace graphmill
