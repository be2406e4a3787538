#pragma once

#include "messages/definition/definition.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/parameters.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Adam (Kingma and Ba, ICLR'15), AdamW (Loshchilov and Hutter, ICLR'19) and
/// SGD with momentum, with the formulas and defaults of torch.optim (betas 0.9
/// and 0.999, epsilon 1e-8). Weight decay is added to the gradient (Adam, SGD)
/// or applied to the weights (AdamW), of the parameters that the definition
/// chooses: a parameter of one dimension is a bias or belongs to a norm.
///
/// Tables have no part in weight decay and have one of their own: each step
/// multiplies every row by 1 - learning rate * `embedding_decay`, and only then
/// takes gradients into account. Moments of rows that the step did not touch
/// stay, and bias correction counts all steps, as torch's SparseAdam does. The
/// decay is lazy: a row that no step touches is multiplied by the same factors
/// in the same order, but later, when `catch_up` is told to. Rows that were
/// caught up are those of a table of which every step multiplies all rows, bit
/// for bit. Until then the others lag behind.
///
/// Owns the moments and counts the steps; parameters belong to the caller. Not
/// thread-safe.
class optimizer {
public:
  optimizer(const definition::optimizer_section& options,
            const model_layout& layout);

  /// Takes one step.
  /// @param gradients Of the layout's shapes; the rows of a table are distinct.
  /// What stands behind those of the dense parameters is left aside.
  /// @param learning_rate Of this step.
  /// @param parameters Changed in place.
  /// @param factor What gradients are to be multiplied by, before the length
  /// of all of them together is compared with `clip_norm`.
  void apply(const gradient_set& gradients, double learning_rate,
             parameter_store& parameters, double factor = 1);

  /// Gives rows of a table the decay of all steps so far.
  /// @param rows In the table; one may be named twice.
  void catch_up(std::size_t table, std::span<const node_id> rows,
                parameter_store& parameters);
  /// The same for all rows of all tables: due before anybody but this
  /// optimizer reads or replaces them.
  void catch_up(parameter_store& parameters);

  /// How many moments it keeps per parameter: 0, 1 or 2, each a float.
  static int moments(const definition::optimizer_section& options);

  /// What the next steps depend on: the steps taken so far, and of each
  /// parameter its moments, each shaped as the parameters are. Without moments
  /// of a kind, its stores have no values.
  std::int64_t steps() const { return step_; }
  const parameter_store& first_moments() const { return first_; }
  const parameter_store& second_moments() const { return second_; }

  /// Goes on from what another optimizer with these options had, all of whose
  /// rows were caught up.
  void restore(std::int64_t steps, parameter_store first,
               parameter_store second);

private:
  /// Dense parameters side by side of which all decay, or none does.
  struct segment {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool decays = true;
  };

  void add_segments(const model_layout& layout);
  void decay_rows(double learning_rate, parameter_store& parameters);
  void catch_up_row(std::size_t table, std::int64_t row,
                    parameter_store& parameters);

  definition::optimizer_section options_;
  std::int64_t step_ = 0;
  parameter_store first_;
  parameter_store second_;
  std::vector<segment> segments_;    ///< All dense parameters, in order.
  std::vector<std::int64_t> widths_; ///< How wide each table is.
  /// What the steps multiply rows by since all rows were caught up, in order.
  std::vector<float> factors_;
  /// Per table and row, how many of them it has had; empty without decay.
  std::vector<std::vector<std::uint32_t>> had_;
};

} // namespace graphmill
