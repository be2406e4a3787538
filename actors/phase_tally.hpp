#pragma once

#include "messages/ids.hpp"
#include "pipelines/replica.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// What the ranks of a phase have told of its steps, in whatever order. Pure.
class phase_tally {
public:
  /// Of no phase: takes nothing.
  phase_tally() = default;
  phase_tally(graphmill::phase phase, std::int32_t epoch, std::int64_t steps,
              rank_id ranks);

  /// @returns whether it is of this phase, and had not been told before.
  bool take(const batch_key& key, const batch_metrics& metrics);

  /// As many as the results taken amount to.
  std::int64_t steps_done() const;

  /// All steps of all ranks have been told.
  bool complete() const { return arrived_ == results_.size(); }

  /// The sum of what was told, in the order of steps and ranks, whichever came
  /// first: a sum of doubles depends on it.
  batch_metrics total() const;

private:
  graphmill::phase phase_ = graphmill::phase::train;
  std::int32_t epoch_ = 0;
  std::size_t ranks_ = 1;
  std::vector<batch_metrics> results_; ///< By step, then rank.
  std::vector<bool> seen_;             ///< Which of them have arrived.
  std::size_t arrived_ = 0;
};

} // namespace graphmill
