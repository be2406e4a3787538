#include "actors/phase_tally.hpp"

#include <utility>

namespace graphmill {

phase_tally::phase_tally(const phase_order& order, rank_id ranks)
  : order_(order), ranks_(static_cast<std::size_t>(ranks)),
    sums_(static_cast<std::size_t>(order.steps) * ranks_),
    seen_(sums_.size(), false) {}

bool phase_tally::take(const step_result& told) {
  const auto& key = told.key;
  if (key.phase != order_.phase || key.epoch != order_.epoch || key.step < 0
      || key.step >= order_.steps || key.rank < 0
      || std::cmp_greater_equal(key.rank, ranks_))
    return false;
  const auto place = static_cast<std::size_t>(key.step) * ranks_
                     + static_cast<std::size_t>(key.rank);
  if (seen_[place])
    return false;
  seen_[place] = true;
  sums_[place] = told.metrics;
  ++arrived_;
  return true;
}

std::int64_t phase_tally::steps_done() const {
  return static_cast<std::int64_t>(arrived_ / ranks_);
}

phase_result phase_tally::result() const {
  phase_result out;
  out.phase = order_.phase;
  out.epoch = order_.epoch;
  out.steps = order_.steps;
  out.learning_rate = order_.learning_rate;
  out.seconds = std::chrono::duration<double>(clock::now() - began_).count();
  // In step order: sums of doubles depend on it.
  for (const auto& part : sums_)
    out.metrics += part;
  return out;
}

} // namespace graphmill
