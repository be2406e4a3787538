#pragma once

#include "actors/base/interfaces.hpp"

#include <optional>
#include <vector>

namespace graphmill {

/// Where a trainer's weights stand in the course of its run, and what the epoch
/// has given until there, so that another attempt of the run can go on from the
/// very step. Part of a TRAINER, on its compute thread, where it changes
/// together with the weights.
///
/// It has no place before the first step, while a step is being applied, after
/// weights were taken over from elsewhere (who gave them knows), and while they
/// are the best ones in place of the last; the last is over as soon as the test
/// begins, which comes after all epochs.
class trainer_place {
public:
  /// The gradients of a step have been applied.
  /// @param parts What the step gave, by rank.
  void applied(const phase_work& work, const batch_key& key,
               const std::vector<batch_metrics>& parts);

  /// A batch is evaluated, which changes no weights.
  void evaluates(const phase_work& work);

  /// The weights are not those of the last step any more.
  void leave() { at_.reset(); }

  const std::optional<course_position>& at() const { return at_; }

  /// Of the steps of the epoch that is on, of all ranks, added up in the order
  /// of steps and ranks, as the run's own sums are. Has a meaning with `at`.
  const batch_metrics& so_far() const { return so_far_; }

private:
  std::optional<course_position> at_;
  batch_metrics so_far_;
};

} // namespace graphmill
