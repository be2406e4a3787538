#include "actors/run/run_course.hpp"

#include "messages/base/pluralized.hpp"

#include <cmath>
#include <utility>

namespace graphmill {

namespace {

error stopped_by_user() {
  return fail(ec::cancelled, "stopped by the user");
}

} // namespace

run_course::run_course(course phases, rank_id ranks, bool caches,
                       const std::optional<course_position>& from)
  : phases_(phases), ranks_(ranks), caches_(caches), resumes_(from) {
  if (!from)
    return;
  phases_.go_to(*from);
  train_steps_ = from->train_steps;
}

run_course::task run_course::enter(state next, task todo) {
  now_ = next;
  return todo;
}

run_course::task run_course::start() {
  if (now_ != state::waiting)
    return task::none;
  if (cancelled_)
    return save_cancelled();
  return caches_ ? enter(state::filling, task::fill_caches) : take_over();
}

/// Has trainers take over what a run is gone on with.
run_course::task run_course::take_over() {
  return resumes_ ? enter(state::resuming, task::resume) : next();
}

/// Goes on as the phases so far would have it.
run_course::task run_course::next() {
  if (cancelled_)
    return save_cancelled();
  switch (phases_.next().action) {
  case course_action::run_phase:
    return enter(state::in_phase, task::begin_phase);
  case course_action::keep_best:
    return enter(state::keeping_best, task::keep_best);
  case course_action::restore_best:
    return enter(state::restoring_best, task::restore_best);
  case course_action::finish:
    break;
  }
  return enter(state::saving, task::save);
}

run_course::task run_course::phase_over(const batch_metrics& metrics,
                                        std::optional<double> quality) {
  if (now_ != state::in_phase)
    return task::none;
  const auto done = phases_.next();
  const auto trained = done.phase == phase::train;
  if (trained && !std::isfinite(metrics.loss()))
    return diverged(done.epoch);
  if (cancelled_)
    return save_cancelled();
  phases_.finished(metrics, quality);
  // Replicas that apply the same gradients stay equal. If they do not, then
  // that is to be known before more epochs are spent on it.
  if (trained && ranks_ > 1)
    return enter(state::comparing, task::compare);
  return next();
}

run_course::task run_course::answered(std::optional<error> odd) {
  switch (now_) {
  case state::filling:
    return odd ? fail_run(*std::move(odd)) : take_over();
  case state::resuming:
    if (odd)
      return fail_run(*std::move(odd));
    resumes_ = false;
    return next();
  case state::comparing:
    return odd ? fail_run(*std::move(odd)) : next();
  case state::keeping_best:
  case state::restoring_best:
    if (failure_)
      return gone_back(odd);
    if (odd)
      return fail_run(*std::move(odd));
    phases_.finished({});
    return next();
  case state::saving:
    if (!failure_)
      failure_ = std::move(odd);
    return enter(state::fetching, task::fetch);
  case state::waiting:
  case state::in_phase:
  case state::pausing:
  case state::fetching:
  case state::ended:
    break;
  }
  return task::none;
}

run_course::task run_course::fetched(bool found) {
  if (now_ != state::fetching)
    return task::none;
  if (!found && failure_)
    failure_->message +=
      fmt::format("; the weights after {} are lost: no trainer could send them",
                  pluralized(train_steps_, "training step"));
  return enter(state::ended, task::end);
}

run_course::task run_course::pause() {
  if (now_ != state::in_phase)
    return task::none;
  return cancelled_ ? save_cancelled() : enter(state::pausing, task::pause);
}

run_course::task run_course::paused() {
  return now_ == state::pausing ? enter(state::ended, task::end) : task::none;
}

bool run_course::leaves_checkpoint(task next, bool crossed) const {
  if (next != task::begin_phase && next != task::restore_best
      && next != task::save)
    return false;
  return failure_ ? failure_->code == ec::cancelled && train_steps_ != 0
                  : crossed;
}

run_course::task run_course::cancel() {
  if (ends_already() || std::exchange(cancelled_, true))
    return task::none;
  if (now_ == state::filling || now_ == state::pausing)
    return save_cancelled();
  if (now_ != state::in_phase)
    return task::none; // `next` sees to it.
  // Validation and test do not change any weights.
  return phases_.next().phase == phase::train ? task::stop_phase
                                              : save_cancelled();
}

run_course::task run_course::cancel_now() {
  if (has_ended())
    return task::none;
  if (!failure_)
    failure_ = stopped_by_user();
  return enter(state::ended, task::end);
}

run_course::task run_course::stopped(rank_id rank) {
  if (ends_already())
    return task::none;
  // The others would wait for its gradients for ever.
  if (!cancelled_)
    return fail_run(fail(
      ec::internal, "the trainer of rank {} stopped without an order", rank));
  if (now_ != state::in_phase || rank < 0 || rank >= ranks_)
    return task::none;
  stopped_.insert(rank);
  return std::cmp_equal(stopped_.size(), ranks_) ? save_cancelled()
                                                 : task::none;
}

run_course::task run_course::save_cancelled() {
  failure_ = stopped_by_user();
  if (resumes_) // What trainers have is not of this run.
    return enter(state::ended, task::end);
  return enter(state::saving, task::save);
}

run_course::task run_course::fail_run(error reason) {
  if (has_ended() || failure_)
    return task::none; // One that has failed is on the way to its end.
  failure_ = std::move(reason);
  if (ends_already())
    return task::none;
  if (train_steps_ == 0 || resumes_)
    return enter(state::ended, task::end);
  return enter(state::saving, task::save);
}

/// The present weights are worth nothing any more; the best so far may be.
run_course::task run_course::diverged(std::int32_t epoch) {
  failure_ = fail(ec::invalid_data,
                  "the training loss of epoch {} is not a number: lower "
                  "optimizer.learning_rate, or look for huge features with "
                  "`graphmill inspect`",
                  epoch + 1);
  return best_validation() ? enter(state::restoring_best, task::restore_best)
                           : enter(state::ended, task::end);
}

/// A run that has diverged has its best weights back, unless `odd`.
run_course::task run_course::gone_back(const std::optional<error>& odd) {
  if (!odd)
    return enter(state::saving, task::save);
  // A trainer that did not go back would pass its last weights off as the best.
  failure_->message +=
    fmt::format("; the best weights are lost: {}", odd->message);
  return enter(state::ended, task::end);
}

} // namespace graphmill
