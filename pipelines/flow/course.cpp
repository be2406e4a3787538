#include "pipelines/flow/course.hpp"

#include <algorithm>

namespace graphmill {

course course::training(const definition& def, bool has_validation,
                        bool has_test, std::int64_t steps_per_epoch) {
  course out;
  out.stopping_ = early_stopping{def.train.patience};
  out.has_validation_ = has_validation;
  out.has_test_ = has_test;
  out.epochs_ = static_cast<std::int32_t>(def.train.epochs);
  out.every_ = std::max(1, static_cast<std::int32_t>(def.evaluate.every));
  out.steps_per_epoch_ = steps_per_epoch;
  if (def.train.max_steps != 0)
    out.steps_left_ = def.train.max_steps;
  out.begin_epoch(0);
  return out;
}

course course::only(phase which) {
  course out;
  out.single_ = true;
  out.step_ = {course_action::run_phase, which, 0, 0};
  return out;
}

void course::begin_epoch(std::int32_t epoch) {
  if (epoch >= epochs_ || steps_left_ == 0) {
    end_of_epochs();
    return;
  }
  step_ = {course_action::run_phase, phase::train, epoch, 0};
  if (steps_left_ > 0) {
    step_.max_steps = std::min(steps_left_, steps_per_epoch_);
    steps_left_ -= step_.max_steps;
  }
}

void course::finished(const batch_metrics& metrics) {
  if (single_) {
    step_.action = course_action::finish;
    return;
  }
  switch (step_.action) {
  case course_action::run_phase:
    if (step_.phase == phase::train)
      after_training();
    else if (step_.phase == phase::test)
      step_.action = course_action::finish;
    else if (stopping_.report(metrics.accuracy()))
      step_.action = course_action::keep_best;
    else if (stopping_.should_stop())
      end_of_epochs();
    else
      begin_epoch(step_.epoch + 1);
    break;
  case course_action::keep_best:
    begin_epoch(step_.epoch + 1);
    break;
  case course_action::restore_best:
    test_or_finish();
    break;
  case course_action::finish:
    break;
  }
}

void course::after_training() {
  const auto last = step_.epoch + 1 >= epochs_ || steps_left_ == 0;
  if (has_validation_ && (last || (step_.epoch + 1) % every_ == 0)) {
    step_.phase = phase::validation;
    step_.max_steps = 0;
  } else {
    begin_epoch(step_.epoch + 1);
  }
}

void course::end_of_epochs() {
  if (stopping_.best_value())
    step_.action = course_action::restore_best;
  else
    test_or_finish();
}

void course::test_or_finish() {
  if (has_test_)
    step_ = {course_action::run_phase, phase::test, step_.epoch, 0};
  else
    step_.action = course_action::finish;
}

} // namespace graphmill
