#pragma once

#include "actors/base/interfaces.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/flow/course.hpp"

#include <cstdint>
#include <optional>

namespace graphmill {

/// Where an attempt at a run ends in order, so that the next one can go on with
/// another number of trainers: at a given point, or at the next edge of an
/// epoch once it is told so. Only between two steps of training, so that
/// something is left to do. Part of the CONDUCTOR's state.
class run_pause {
public:
  /// @param at Behind where the attempt begins. @param from Where that is.
  run_pause(std::optional<run_point> at,
            const std::optional<course_position>& from)
    : at_(at), began_(from ? from->epoch : 0) {}

  /// Not at the edge at which the attempt has begun: each trains an epoch.
  void at_next_edge() { at_edge_ = true; }

  /// Whether the run pauses instead of this step of its course.
  bool comes_before(const course_step& step) const {
    const run_point here{step.epoch, step.done_steps};
    return step.action == course_action::run_phase && step.phase == phase::train
           && ((at_ && here >= *at_)
               || (at_edge_ && here.step == 0 && here.epoch > began_));
  }

  /// Whether it pauses within a phase that is to begin, or at its end.
  bool is_within(const phase_request& request) const {
    return at_ && request.phase == phase::train && request.epoch == at_->epoch
           && at_->step <= request.steps;
  }

  /// Such a phase ends at the pause.
  phase_request cut(phase_request request) const {
    if (is_within(request))
      request.steps = at_->step;
    return request;
  }

private:
  std::optional<run_point> at_;
  std::int32_t began_;
  bool at_edge_ = false;
};

} // namespace graphmill
