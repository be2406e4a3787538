#pragma once

#include "messages/definition/definition.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// The loss of seeds whose labels are numbers. With the error e, what the model
/// gives less the label, a value loses
///
///   mse    e^2
///   mae    |e|, whose gradient at 0 is taken for 0
///   huber  e^2 / 2 if |e| is at most 1, else |e| - 1/2 (Huber, Annals of
///          Mathematical Statistics 35, 1964)
///
/// and a seed the mean over its values: torch.nn.functional's mse_loss, l1_loss
/// and huber_loss. Seeds of which nothing is known count neither as seeds nor
/// in the loss, and get a gradient of zeros. Sums are made in double precision,
/// in the order of rows.
/// @param outputs [rows, values]
/// @param labels [rows, values] As `label_kind::regression` says.
/// @param weight What each seed's gradient is multiplied by: one over the
/// labelled seeds of the whole step.
/// @param gradient [rows, values], receives the gradient of the outputs, unless
/// its data is null.
/// @returns the sum of losses and the labelled seeds; none is ever counted as
/// correct.
batch_metrics value_losses(const_matrix outputs, std::span<const float> labels,
                           value_loss loss, double weight, matrix gradient);

/// The values of the labelled seeds of a batch, and what was predicted:
/// `seed_outcomes` of labels that are numbers.
seed_outcomes value_outcomes_of(const_matrix outputs,
                                std::span<const float> labels);

} // namespace graphmill
