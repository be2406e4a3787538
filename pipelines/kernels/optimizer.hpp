#pragma once

#include "messages/definition/definition.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/parameters.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Adam (Kingma and Ba, ICLR'15), AdamW (Loshchilov and Hutter, ICLR'19) and
/// SGD with momentum, with the formulas and defaults of torch.optim (betas 0.9
/// and 0.999, epsilon 1e-8). Weight decay is added to the gradient (Adam, SGD)
/// or applied to the weights (AdamW).
///
/// Tables are updated lazily: a row that the step did not touch keeps value and
/// moments, also under weight decay and momentum. Bias correction counts all
/// steps, as torch's SparseAdam does. Owns the moments and counts the steps;
/// parameters belong to the caller. Not thread-safe.
class optimizer {
public:
  optimizer(const definition::optimizer_section& options,
            const model_layout& layout);

  /// Takes one step.
  /// @param gradients Of the layout's shapes; the rows of a table are distinct.
  /// @param learning_rate Of this step.
  /// @param parameters Changed in place.
  void apply(const gradient_set& gradients, double learning_rate,
             parameter_store& parameters);

  /// How many moments it keeps per parameter: 0, 1 or 2, each a float.
  static int moments(const definition::optimizer_section& options);

  /// What the next steps depend on: the steps taken so far, and of each
  /// parameter its moments, each shaped as the parameters are. Without moments
  /// of a kind, its stores have no values.
  std::int64_t steps() const { return step_; }
  const parameter_store& first_moments() const { return first_; }
  const parameter_store& second_moments() const { return second_; }

  /// Goes on from what another optimizer with these options had.
  void restore(std::int64_t steps, parameter_store first,
               parameter_store second);

private:
  definition::optimizer_section options_;
  std::int64_t step_ = 0;
  parameter_store first_;
  parameter_store second_;
  std::vector<std::int64_t> widths_; ///< How wide each table is.
};

} // namespace graphmill
