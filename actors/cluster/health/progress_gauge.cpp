#include "actors/cluster/health/progress_gauge.hpp"

#include "actors/base/phase_steps.hpp"
#include "pipelines/definition/measured_seeds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphmill {

namespace {

/// Seconds without a step, and longer if steps take longer.
constexpr double still_after = 3;

/// What pace and loss look back, at the least.
constexpr std::chrono::seconds recent{10};

double seconds_between(std::chrono::steady_clock::rep from,
                       std::chrono::steady_clock::rep to) {
  using ticks = std::chrono::steady_clock::duration;
  return std::chrono::duration<double>(ticks{to - from}).count();
}

} // namespace

progress_gauge::progress_gauge(const definition& def, std::int64_t train_seeds,
                               const progress_before& before,
                               std::function<clock::time_point()> now)
  : now_(std::move(now)), work_(work_without_training(def)),
    epochs_(static_cast<std::int32_t>(def.train.epochs)),
    train_batch_(def.train.batch_size), train_seeds_(train_seeds),
    max_steps_(def.train.max_steps), first_epoch_(std::isnan(before.loss)),
    loss_(before.loss),
    checkpoint_(
      before.checkpoint ? before.checkpoint->time_since_epoch().count() : 0) {}

void progress_gauge::observe(const std::shared_ptr<progress_gauge>& gauge,
                             run_observer& by) {
  by.on_begin = [gauge,
                 inner = std::move(by.on_begin)](const phase_request& work) {
    gauge->on_begin(work);
    if (inner)
      inner(work);
  };
  by.on_step = [gauge, inner = std::move(by.on_step)](
                 const phase_request& work, std::int64_t done,
                 const batch_metrics& part) {
    gauge->on_step(work, done, part);
    if (inner)
      inner(work, done, part);
  };
  by.on_phase = [gauge, inner = std::move(by.on_phase)](
                  const phase_result& done) -> result<void> {
    if (done.phase == phase::train) {
      if (!gauge->is_long_)
        gauge->loss_ = done.metrics.loss();
      gauge->first_epoch_ = false;
    }
    return inner ? inner(done) : ok();
  };
}

void progress_gauge::wrote_checkpoint() {
  checkpoint_ = now_().time_since_epoch().count();
}

void progress_gauge::on_begin(const phase_request& work) {
  from_ = from_next_ = {now_(), work.first, {}};
  phase_ = work.phase;
  epoch_ = work.epoch;
  step_ = work.first;
  steps_ = work.steps;
  if (work.phase == phase::train) {
    rate_ = work.learning_rate;
    sums_ = {};
    is_long_ = false;
    left_at_begin_ = steps_from(work);
    left_ = left_at_begin_;
  } else if (work.phase == phase::test) {
    left_ = 0; // It comes behind all epochs.
  }
  moved_ = from_.at.time_since_epoch().count();
  begun_ = true;
}

/// Steps of training from the begin of a phase of it to the end of the run,
/// though the phase itself may end before, for another number of trainers.
std::int64_t progress_gauge::steps_from(const phase_request& work) const {
  const auto of_epoch = (train_seeds_ + train_batch_ - 1) / train_batch_;
  const auto epochs = std::int64_t{std::max(0, epochs_ - work.epoch)};
  const auto left = epochs * of_epoch - work.first;
  return max_steps_ == 0 ? left
                         : std::min(left, max_steps_ - work.from.train_steps);
}

/// Told of each rank's part of a step: one is done once all ranks have told.
void progress_gauge::on_step(const phase_request& work, std::int64_t done,
                             const batch_metrics& part) {
  const auto trains = work.phase == phase::train;
  if (trains)
    add_loss(part);
  if (done <= step_)
    return;
  const auto now = now_();
  step_ = done;
  moved_ = now.time_since_epoch().count();
  if (!trains)
    return;
  left_ = std::max<std::int64_t>(0, left_at_begin_ - (done - work.first));
  const auto seconds = std::chrono::duration<double>(now - from_.at).count();
  if (seconds <= 0)
    return;
  steps_pace_ = double(done - from_.step) / seconds;
  seeds_pace_ = double(seeds_until(done) - seeds_until(from_.step)) / seconds;
  if (now - from_next_.at < recent)
    return;
  from_ = std::exchange(from_next_, mark{now, done, sums_});
  is_long_ = true;
}

/// An epoch may take hours, and whoever trains wants to see that it learns. The
/// losses of two short ones compare better if they are of all their seeds; of
/// the first one there is nothing else to tell.
void progress_gauge::add_loss(const batch_metrics& part) {
  sums_ += part;
  const auto seeds = sums_.seeds - from_.sums.seeds;
  if ((first_epoch_ || is_long_) && seeds > 0)
    loss_ = (sums_.loss_sum - from_.sums.loss_sum) / double(seeds);
}

/// The last step of an epoch is smaller, if batches do not fit in.
std::int64_t progress_gauge::seeds_until(std::int64_t step) const {
  return std::min(step * train_batch_, train_seeds_);
}

/// Within a phase of training, for longer than some steps take.
bool progress_gauge::stands_still(clock::time_point now) const {
  if (phase_ != phase::train || step_ >= steps_)
    return false;
  const auto pace = steps_pace_.load();
  const auto quiet = seconds_between(moved_, now.time_since_epoch().count());
  return quiet > std::max(still_after, pace > 0 ? 5 / pace : 0.0);
}

std::optional<run_progress> progress_gauge::read(clock::time_point now) const {
  if (!begun_)
    return std::nullopt;
  run_progress out;
  out.work = work_;
  out.phase = phase_;
  out.epoch = epoch_;
  out.epochs = epochs_;
  out.step = step_;
  out.steps = steps_;
  out.loss = loss_;
  out.learning_rate = rate_;
  const auto still = stands_still(now);
  out.seeds_per_second = still ? 0 : seeds_pace_.load();
  if (const auto pace = steps_pace_.load(); pace > 0 && !still)
    out.seconds_left = double(left_) / pace;
  if (const auto kept = checkpoint_.load(); kept != 0)
    out.checkpoint_age =
      std::max(0.0, seconds_between(kept, now.time_since_epoch().count()));
  return out;
}

} // namespace graphmill
