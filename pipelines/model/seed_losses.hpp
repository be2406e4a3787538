#pragma once

#include "messages/base/error.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"

namespace graphmill {

// What the labels of a batch say of a model's logits, by its task: one class
// for each seed, several labels, or numbers; or what its links say.

/// Fails if the labels of a batch are not as many as its seeds have, or are
/// none of the model.
result<void> check_labels(const model_layout& layout, const minibatch& batch);

/// `cross_entropy`; `binary_cross_entropy`, which has no shape but a focus; or
/// `value_losses` or `link_losses`, which have no shape. In tasks of edges
/// weights of rows multiply gradients; losses are told without them.
batch_metrics losses_of(const model_layout& layout, const minibatch& batch,
                        const_matrix logits, double weight, matrix gradient,
                        const loss_shape& shape);

/// @param with_scores Whether the scores of all classes or labels are told.
seed_outcomes outcomes_of(const model_layout& layout, const minibatch& batch,
                          const_matrix logits, bool with_scores);

} // namespace graphmill
