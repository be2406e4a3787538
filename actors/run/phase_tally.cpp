#include "actors/run/phase_tally.hpp"

#include "pipelines/flow/schedule.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

phase_request request_of(const course_step& step, const definition& def,
                         const measures& wanted, std::int64_t seeds) {
  const auto batch =
    std::int64_t{step.phase == phase::train ? def.train.batch_size
                                            : def.evaluate.batch_size};
  phase_request out;
  out.phase = step.phase;
  out.epoch = step.epoch;
  out.steps = (seeds + batch - 1) / batch;
  if (step.max_steps > 0)
    out.steps = std::min(out.steps, step.max_steps);
  out.first = std::min(step.done_steps, out.steps);
  out.learning_rate = learning_rate_of(
    def.optimizer, static_cast<std::uint32_t>(step.epoch), def.train.epochs);
  out.wanted = wanted;
  return out;
}

phase_tally::phase_tally(const phase_request& request, rank_id ranks)
  : request_(request), ranks_(static_cast<std::size_t>(ranks)),
    sums_(static_cast<std::size_t>(request.steps - request.first) * ranks_),
    seen_(sums_.size(), false) {}

bool phase_tally::take(const step_result& told) {
  const auto& key = told.key;
  if (key.phase != request_.phase || key.epoch != request_.epoch
      || key.step < request_.first || key.step >= request_.steps || key.rank < 0
      || std::cmp_greater_equal(key.rank, ranks_))
    return false;
  const auto place =
    static_cast<std::size_t>(key.step - request_.first) * ranks_
    + static_cast<std::size_t>(key.rank);
  if (seen_[place])
    return false;
  seen_[place] = true;
  sums_[place] = told.metrics;
  if (told.outcomes)
    classes_.add(*told.outcomes);
  ++arrived_;
  return true;
}

std::int64_t phase_tally::steps_done() const {
  return request_.first + static_cast<std::int64_t>(arrived_ / ranks_);
}

phase_result phase_tally::result() const {
  phase_result out;
  out.phase = request_.phase;
  out.epoch = request_.epoch;
  out.steps = request_.steps;
  out.learning_rate = request_.learning_rate;
  out.seconds = std::chrono::duration<double>(clock::now() - began_).count();
  // In step order: sums of doubles depend on it.
  out.metrics = request_.before;
  for (const auto& part : sums_)
    out.metrics += part;
  out.metric = request_.wanted.metric;
  out.threshold = request_.wanted.threshold;
  out.classes = classes_.metrics(out.metrics.seeds, request_.wanted);
  return out;
}

std::optional<batch_metrics> phase_tally::until(std::int64_t step) const {
  if (step < request_.first || step > request_.steps)
    return std::nullopt;
  const auto end = static_cast<std::size_t>(step - request_.first) * ranks_;
  auto out = request_.before;
  for (std::size_t place = 0; place < end; ++place) {
    if (!seen_[place])
      return std::nullopt;
    out += sums_[place];
  }
  return out;
}

} // namespace graphmill
