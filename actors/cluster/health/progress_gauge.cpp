#include "actors/cluster/health/progress_gauge.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

double seconds_between(std::chrono::steady_clock::rep from,
                       std::chrono::steady_clock::rep to) {
  using ticks = std::chrono::steady_clock::duration;
  return std::chrono::duration<double>(ticks{to - from}).count();
}

} // namespace

void progress_gauge::observe(const std::shared_ptr<progress_gauge>& gauge,
                             run_observer& by) {
  by.on_step = [gauge, inner = std::move(by.on_step)](const phase_request& work,
                                                      std::int64_t done) {
    gauge->on_step(work, done);
    if (inner)
      inner(work, done);
  };
  by.on_phase = [gauge, inner = std::move(by.on_phase)](
                  const phase_result& done) -> result<void> {
    if (done.phase == phase::train)
      gauge->loss_ = done.metrics.loss();
    return inner ? inner(done) : ok();
  };
  if (by.on_checkpoint)
    by.on_checkpoint =
      [gauge, inner = std::move(by.on_checkpoint)](training_state state) {
        gauge->checkpoint_ = clock::now().time_since_epoch().count();
        inner(std::move(state));
      };
}

void progress_gauge::on_step(const phase_request& work, std::int64_t done) {
  const auto now = clock::now().time_since_epoch().count();
  if (!begun_ || phase_ != work.phase || epoch_ != work.epoch) {
    phase_ = work.phase;
    epoch_ = work.epoch;
    first_ = done;
    since_ = now;
  }
  step_ = done;
  steps_ = work.steps;
  rate_ = work.learning_rate;
  last_ = now;
  begun_ = true;
}

std::optional<run_progress> progress_gauge::read(clock::time_point now) const {
  if (!begun_)
    return std::nullopt;
  run_progress out;
  out.phase = phase_;
  out.epoch = epoch_;
  out.epochs = epochs_;
  out.step = step_;
  out.steps = steps_;
  out.loss = loss_;
  out.learning_rate = rate_;
  const auto training = out.phase == phase::train;
  const auto seconds = seconds_between(since_, last_);
  const auto taken = out.step - first_;
  if (taken > 0 && seconds > 0) {
    const auto pace = double(taken) / seconds;
    out.seeds_per_second =
      pace * double(training ? train_batch_ : evaluate_batch_);
    const auto epochs_left = std::max<std::int64_t>(0, epochs_ - out.epoch - 1);
    if (training)
      out.seconds_left =
        double(out.steps - out.step + epochs_left * out.steps) / pace;
  }
  if (const auto kept = checkpoint_.load(); kept != 0)
    out.checkpoint_age =
      std::max(0.0, seconds_between(kept, now.time_since_epoch().count()));
  return out;
}

} // namespace graphmill
