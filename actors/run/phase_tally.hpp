#pragma once

#include "actors/run/conductor.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/class_metrics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace graphmill {

/// The order for a phase of a course that has that many seeds.
phase_request request_of(const course_step& step, const definition& def,
                         const measures& wanted, std::int64_t seeds);

/// Adds up what the ranks of a run tell of a phase.
class phase_tally {
public:
  /// What was given before the steps of the request counts, too.
  phase_tally(const phase_request& request, rank_id ranks);

  /// @returns false if the result is of another phase, or was told before.
  bool take(const step_result& told);

  const phase_request& request() const { return request_; }
  std::int64_t steps_done() const; ///< By all ranks, on average.
  bool complete() const { return arrived_ == sums_.size(); }

  /// The same sums to the bit, whichever result came first.
  phase_result result() const;

  /// What the steps before this one gave; nothing while a result of theirs is
  /// missing, or for a step that the phase does not have.
  std::optional<batch_metrics> until(std::int64_t step) const;

private:
  using clock = std::chrono::steady_clock;

  phase_request request_;
  std::size_t ranks_;
  std::vector<batch_metrics> sums_; ///< By step, then rank.
  std::vector<bool> seen_;          ///< Which of them have arrived.
  std::size_t arrived_ = 0;
  class_tally classes_;
  clock::time_point began_ = clock::now();
};

} // namespace graphmill
