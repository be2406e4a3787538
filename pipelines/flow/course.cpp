#include "pipelines/flow/course.hpp"

#include <algorithm>

namespace graphmill {

course course::training(const definition& def, bool has_validation,
                        bool has_test, std::int64_t steps_per_epoch) {
  course out;
  out.patience_ = def.train.patience;
  out.min_epochs_ = static_cast<std::int32_t>(def.train.min_epochs);
  out.patience_window_ = def.train.patience_window;
  out.stopping_ = early_stopping{out.patience_, out.patience_window_};
  out.has_validation_ = has_validation;
  out.has_test_ = has_test;
  out.epochs_ = static_cast<std::int32_t>(def.train.epochs);
  out.every_ = std::max(1, static_cast<std::int32_t>(def.evaluate.every));
  out.steps_per_epoch_ = steps_per_epoch;
  out.max_steps_ = def.train.max_steps;
  out.begin_epoch(0);
  return out;
}

course course::only(phase which, std::int32_t epoch) {
  course out;
  out.single_ = true;
  out.step_ = {course_action::run_phase, which, epoch, 0};
  return out;
}

course course::in_pieces(phase which, std::int64_t steps,
                         std::int64_t at_once) {
  auto out = only(which);
  out.pass_steps_ = steps;
  out.piece_steps_ = at_once;
  out.step_.max_steps = std::min(at_once, steps);
  return out;
}

void course::go_to(const course_position& at) {
  if (single_)
    return;
  stopping_ = early_stopping{patience_, patience_window_, at.best_validation,
                             at.since_best, at.averages};
  steps_before_ = at.train_steps - at.step;
  step_.epoch = at.epoch - 1; // The last one, if there are no more.
  if (stopping_.should_stop())
    end_of_epochs();
  else
    begin_epoch(at.epoch, at.step);
}

/// Whether there are no more steps to do.
bool course::out_of_steps() const {
  return max_steps_ != 0 && steps_before_ >= max_steps_;
}

void course::note_begin(std::int32_t epoch, std::int64_t done_steps) {
  began_ = {epoch,
            done_steps,
            steps_before_ + done_steps,
            stopping_.best_value(),
            stopping_.since(),
            stopping_.averages()};
}

void course::begin_epoch(std::int32_t epoch, std::int64_t done_steps) {
  if (epoch >= epochs_ || out_of_steps()) {
    end_of_epochs();
    return;
  }
  note_begin(epoch, done_steps);
  step_ = {course_action::run_phase, phase::train, epoch, 0, done_steps};
  if (max_steps_ != 0)
    step_.max_steps = std::min(max_steps_ - steps_before_, steps_per_epoch_);
}

void course::finished(const batch_metrics& metrics,
                      std::optional<double> quality) {
  if (single_) {
    step_.done_steps = step_.max_steps;
    step_.max_steps = std::min(step_.done_steps + piece_steps_, pass_steps_);
    if (step_.done_steps >= pass_steps_)
      step_.action = course_action::finish;
    return;
  }
  switch (step_.action) {
  case course_action::run_phase:
    if (step_.phase == phase::train)
      after_training();
    else if (step_.phase == phase::test)
      step_.action = course_action::finish;
    else if (stopping_.report(quality.value_or(metrics.accuracy()),
                              step_.epoch + 1 > min_epochs_))
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
  steps_before_ += step_.max_steps != 0 ? step_.max_steps : steps_per_epoch_;
  const auto last = step_.epoch + 1 >= epochs_ || out_of_steps();
  if (has_validation_ && (last || (step_.epoch + 1) % every_ == 0)) {
    step_.phase = phase::validation;
    step_.max_steps = 0;
    step_.done_steps = 0;
  } else {
    begin_epoch(step_.epoch + 1);
  }
}

void course::end_of_epochs() {
  note_begin(step_.epoch + 1, 0);
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

bool has_steps_left(const definition& def, std::int64_t train_seeds,
                    const course_position& at) {
  const auto batch = std::int64_t{def.train.batch_size};
  // What comes behind the epochs makes no difference to that.
  auto phases =
    course::training(def, false, false, (train_seeds + batch - 1) / batch);
  phases.go_to(at);
  return phases.next().action == course_action::run_phase;
}

} // namespace graphmill
