#pragma once

#include "messages/work/seed_outcomes.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// The loss of seeds that may have several labels: of each label the
/// cross-entropy of its logistic probability p = 1 / (1 + exp(-logit)),
///
///   -log p if the seed has the label, -log (1 - p) if not,
///
/// and of a seed the mean over the labels, which is
/// torch.nn.functional.binary_cross_entropy_with_logits. A label is predicted
/// if its logit is above 0, its probability above one half. Seeds without
/// labels
/// (`no_labels`) count neither as seeds nor in the loss, and get a gradient of
/// zeros. Sums are made in double precision, in the order of rows.
/// @param logits [rows, labels]
/// @param labels [rows, labels], as `label_kind::multi_label` says.
/// @param weight What each seed's gradient is multiplied by: one over the
/// labelled seeds of the whole step.
/// @param gradient [rows, labels], receives the gradient of the logits, unless
/// its data is null.
/// @param focus Of the loss that the gradient is of: `loss_shape::focus`, with
/// the probability of what is true of a label.
/// @returns the sum of plain losses, the seeds of which all labels were
/// predicted rightly, and the labelled seeds.
batch_metrics binary_cross_entropy(const_matrix logits,
                                   std::span<const std::uint8_t> labels,
                                   double weight, matrix gradient,
                                   double focus = 0);

/// The probability of each label, made in double precision. @param logits, out
/// [rows, labels]; may be the same.
void logistic(const_matrix logits, matrix out);

/// What the logits of a batch say of its labelled seeds: `seed_outcomes` of
/// several labels. The scores of labels are their logits.
/// @param with_scores Whether they are told.
seed_outcomes label_outcomes_of(const_matrix logits,
                                std::span<const std::uint8_t> labels,
                                bool with_scores);

} // namespace graphmill
