#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// Softmax cross-entropy of seeds against their labels; -1 does not count.
/// @param labels [rows of logits], each -1 or a class.
/// @param weight What each seed's gradient is multiplied by: one over the
/// labelled seeds of the whole step.
/// @param gradient [rows, classes], receives the gradient of the logits; null
/// data: not wanted.
batch_metrics cross_entropy(const_matrix logits,
                            std::span<const std::int64_t> labels, double weight,
                            matrix gradient);

/// The class with the largest logit of each row, the first of equals.
void argmax(const_matrix logits, std::vector<std::int64_t>& out);

} // namespace graphmill
