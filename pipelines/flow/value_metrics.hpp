#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace graphmill {

/// How far predictions of one value are from it, over the labelled seeds of an
/// evaluation. Not finite if a prediction is not.
struct value_result {
  double mse = 0; ///< Mean of the squares of errors.
  double mae = 0; ///< Mean of the amounts of errors.
  /// 1 - sum of squares of errors / sum of squares of the labels around their
  /// mean: the share of the labels' variance that is explained. Nothing if all
  /// labels are the same, or a prediction is not finite.
  std::optional<double> r2;

  double rmse() const; ///< The root of `mse`.
};

/// Sums are made in double precision, by ascending label and then prediction,
/// so that they do not depend on the order of seeds.
/// @param pairs Of each seed its label, which is finite, and what was
/// predicted. Not empty.
value_result result_of(std::vector<std::pair<float, float>> pairs);

} // namespace graphmill
