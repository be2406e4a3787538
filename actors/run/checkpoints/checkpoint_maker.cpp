#include "actors/run/checkpoints/checkpoint_maker.hpp"

#include <utility>

namespace graphmill {

void checkpoint_maker::follow(std::int32_t epoch, std::int64_t steps,
                              sums results) {
  last_ = {epoch, steps, std::move(results)};
  if (on_ && on_->begin.epoch == epoch)
    on_->follows = last_;
}

std::uint64_t checkpoint_maker::ask(const course_position& begin,
                                    const batch_metrics& before) {
  on_.emplace();
  on_->begin = begin;
  on_->before = before;
  if (last_.epoch == begin.epoch)
    on_->follows = last_;
  return ++number_;
}

void checkpoint_maker::answer(
  std::int64_t steps, std::shared_ptr<const std::vector<named_tensor>> state) {
  auto& out = on_->state;
  out.at = on_->begin;
  out.at.train_steps = steps;
  out.at.step += steps - on_->begin.train_steps;
  out.tensors = std::move(state);
}

std::optional<batch_metrics> checkpoint_maker::so_far() const {
  const auto step = on_->state.at.step;
  if (step == on_->begin.step)
    return on_->before;
  return on_->follows.results ? on_->follows.results(step) : std::nullopt;
}

std::optional<training_state> checkpoint_maker::take() {
  if (!on_ || !on_->state.tensors)
    return std::nullopt;
  const auto metrics = so_far();
  if (!metrics)
    return std::nullopt;
  auto out = std::move(on_->state);
  out.so_far = *metrics;
  on_.reset();
  return out;
}

bool checkpoint_maker::is_lost(bool over) const {
  if (!on_ || !on_->state.tensors || so_far())
    return false;
  const auto step = on_->state.at.step;
  return over || step < on_->begin.step
         || (on_->follows.results && step > on_->follows.steps);
}

} // namespace graphmill
