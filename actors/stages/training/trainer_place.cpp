#include "actors/stages/training/trainer_place.hpp"

namespace graphmill {

void trainer_place::applied(const phase_work& work, const batch_key& key,
                            const std::vector<batch_metrics>& parts) {
  if (key.step == work.first)
    so_far_ = work.before;
  for (const auto& part : parts)
    so_far_ += part;
  at_ = work.from;
  at_->step = key.step + 1;
  at_->train_steps += at_->step - work.from.step;
}

void trainer_place::evaluates(const phase_work& work) {
  if (at_ || work.phase != phase::test)
    return;
  at_ = work.from;
  so_far_ = {};
}

} // namespace graphmill
