#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// How the loss whose gradient is taken differs from the plain cross-entropy.
/// With class weights w and smoothing s, a seed of class y that the model gives
/// the probabilities p loses
///
///   (1 - s) w[y] (-log p[y]) + s / classes * sum over c of w[c] (-log p[c])
///
/// which is torch.nn.functional.cross_entropy (Szegedy et al., CVPR'16). With a
/// focus g above 0, which is never together with smoothing, it loses
///
///   w[y] (1 - p[y])^g (-log p[y])
///
/// (focal loss, Lin et al., ICCV'17).
struct loss_shape {
  double smoothing = 0;
  std::span<const double> class_weights = {}; ///< [classes]; none: all are 1.
  double focus = 0;

  bool plain() const {
    return smoothing == 0 && class_weights.empty() && focus == 0;
  }
};

/// The factor of the focal loss on the gradient of a plain cross-entropy.
/// @param wrong 1 - p, of the true class or label.
/// @param focus Above 0.
double focal_factor(double wrong, double focus);

/// The sum of the weights of the labelled seeds; without weights, their number.
/// @param labels Each -1 or a class.
double weight_of(std::span<const std::int64_t> labels,
                 std::span<const double> class_weights);

/// Weights with which all classes with seeds count the same, and together as
/// much as without weights: seeds / (such classes * seeds of the class), and 0
/// for a class without seeds.
/// @param counts Seeds of each class.
std::vector<double> balanced_weights(std::span<const std::int64_t> counts);

/// Softmax cross-entropy of seeds against their labels. Seeds with label -1 do
/// not count, and get a gradient of zeros. Sums are made in double precision,
/// in the order of rows.
/// @param logits [rows, classes]
/// @param labels [rows], each -1 or a class.
/// @param weight Factor of each seed's gradient: one over the labelled seeds of
/// the whole step.
/// @param gradient [rows, classes], receives the gradient of the logits, unless
/// its data is null.
/// @param shape Of the loss of the gradient.
/// @returns the sum of plain losses, the seeds with the right class, and the
/// labelled seeds.
batch_metrics cross_entropy(const_matrix logits,
                            std::span<const std::int64_t> labels, double weight,
                            matrix gradient, const loss_shape& shape = {});

/// The probability of each class: exp(logit) over the row's sum of these, made
/// in double precision. @param logits, out [rows, classes]; may be the same.
void softmax(const_matrix logits, matrix out);

/// The class with the largest logit of each row, the first of equals.
/// @param out Receives [rows], whatever it held before.
void argmax(const_matrix logits, std::vector<std::int64_t>& out);

} // namespace graphmill
