#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// Softmax cross-entropy of seeds against their labels; seeds with label -1
/// count neither as seeds nor in the loss, and get a gradient of zeros. Sums
/// are made in double precision, in the order of rows.
/// @param logits [rows, classes]
/// @param labels [rows], each -1 or a class.
/// @param weight What each seed's gradient is multiplied by: one over the
/// labelled seeds of the whole step.
/// @param gradient [rows, classes], receives the gradient of the logits, unless
/// its data is null.
/// @returns the sum of losses, the seeds that were classified rightly, and the
/// labelled seeds.
batch_metrics cross_entropy(const_matrix logits,
                            std::span<const std::int64_t> labels, double weight,
                            matrix gradient);

/// Gives the class with the largest logit of each row, the first of equals.
/// @param out Receives [rows], whatever it held before.
void argmax(const_matrix logits, std::vector<std::int64_t>& out);

} // namespace graphmill
