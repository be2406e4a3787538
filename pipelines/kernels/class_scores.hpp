#pragma once

#include "messages/work/seed_outcomes.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// The logarithm of the odds of each class, p / (1 - p) of its softmax p, made
/// in double precision and rounded. They put seeds into the order of their
/// probabilities, but keep apart those whose probabilities round to 0 or 1.
/// Of two classes, one's are the negative of the other's.
/// @param logits Of one seed.
/// @param out Receives as many values; infinite if there is one class alone.
void log_odds(std::span<const float> logits, std::span<float> out);

/// Takes seeds for the class of a threshold if its probability is reached, and
/// for the likeliest of the others if it is not.
/// @param threshold With a `fixed` probability.
/// @param classes [rows] As `argmax` gives them.
void apply_threshold(const_matrix logits, const threshold_choice& threshold,
                     std::vector<std::int64_t>& classes);

/// Whether a row is said to have one of several labels: from the probability of
/// the threshold on, if it is of that label, else above 0.5.
/// @param threshold With a `fixed` probability, if any.
bool takes_label(std::int64_t label, float logit,
                 const std::optional<threshold_choice>& threshold);

/// What the logits of a batch say of its labelled seeds: `seed_outcomes`.
/// @param logits [rows, classes]
/// @param labels [rows], each -1 or a class.
/// @param with_scores Whether the log odds of all classes are told.
seed_outcomes outcomes_of(const_matrix logits,
                          std::span<const std::int64_t> labels,
                          bool with_scores);

} // namespace graphmill
