#include "actors/cluster/health/conductor_health.hpp"

#include "actors/base/phase_steps.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

batch_key place_of(const phase_request& work, std::int64_t step) {
  return {work.phase, work.epoch, step, 0};
}

/// The last step of a phase, behind which it waits for nothing.
std::int64_t last_of(const phase_request& work) {
  return std::max<std::int64_t>(work.steps - 1, 0);
}

} // namespace

conductor_health::conductor_health(clock::time_point now) : begun_(now) {}

void conductor_health::observe(const std::shared_ptr<conductor_health>& health,
                               run_observer& by) {
  by.on_filled = [health, inner = std::move(by.on_filled)](std::size_t done,
                                                           std::size_t of) {
    health->gauge_.enter(actor_state::waiting);
    if (inner)
      inner(done, of);
  };
  by.on_begin = [health,
                 inner = std::move(by.on_begin)](const phase_request& work) {
    health->gauge_.works_on(
      place_of(work, std::min(work.first, last_of(work))));
    health->gauge_.enter(actor_state::waiting);
    if (inner)
      inner(work);
  };
  by.on_step = [health, inner = std::move(by.on_step)](
                 const phase_request& work, std::int64_t done,
                 const batch_metrics& part) {
    health->gauge_.works_on(place_of(work, std::min(done, last_of(work))));
    health->gauge_.made(0);
    if (inner)
      inner(work, done, part);
  };
  by.on_phase = [health, inner = std::move(by.on_phase)](
                  const phase_result& done) -> result<void> {
    health->gauge_.enter(actor_state::running);
    auto kept = inner ? inner(done) : ok();
    health->gauge_.enter(actor_state::waiting);
    return kept;
  };
  if (by.on_checkpoint)
    by.on_checkpoint =
      [health, inner = std::move(by.on_checkpoint)](training_state state) {
        health->gauge_.enter(actor_state::running);
        inner(std::move(state));
        health->gauge_.enter(actor_state::waiting);
      };
  by.on_end = [health, inner = std::move(by.on_end)](run_outcome outcome) {
    if (outcome.failure && outcome.failure->code != ec::cancelled)
      health->gauge_.failed(outcome.failure->message);
    else
      health->gauge_.enter(actor_state::stopped);
    if (inner)
      inner(std::move(outcome));
  };
}

actor_health conductor_health::read(clock::time_point now) {
  gauge_reading before; // Without any: since it was made.
  before.at = begun_;
  if (!readings_.empty())
    before = readings_.front();
  auto reading = gauge_.read(now);
  auto out = health_between(gauge_, before, reading);
  readings_.push_back(std::move(reading));
  if (readings_.size() > health_sampler::span)
    readings_.pop_front();
  return out;
}

} // namespace graphmill
