#include "actors/phase_tally.hpp"

namespace graphmill {

phase_tally::phase_tally(graphmill::phase phase, std::int32_t epoch,
                         std::int64_t steps, rank_id ranks)
  : phase_(phase), epoch_(epoch), ranks_(static_cast<std::size_t>(ranks)),
    results_(static_cast<std::size_t>(steps) * ranks_),
    seen_(results_.size(), false) {}

bool phase_tally::take(const batch_key& key, const batch_metrics& metrics) {
  if (key.phase != phase_ || key.epoch != epoch_)
    return false;
  const auto place = static_cast<std::size_t>(key.step) * ranks_
                     + static_cast<std::size_t>(key.rank);
  if (place >= results_.size() || seen_[place])
    return false;
  seen_[place] = true;
  results_[place] = metrics;
  ++arrived_;
  return true;
}

std::int64_t phase_tally::steps_done() const {
  return static_cast<std::int64_t>(arrived_ / ranks_);
}

batch_metrics phase_tally::total() const {
  batch_metrics out;
  for (const auto& one : results_)
    out += one;
  return out;
}

} // namespace graphmill
