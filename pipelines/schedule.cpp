#include "pipelines/schedule.hpp"

#include <cmath>
#include <numbers>

namespace graphmill {

double learning_rate_of(const definition::optimizer_section& optimizer,
                        std::uint32_t epoch, std::uint32_t epochs) {
  const auto rate = optimizer.learning_rate;
  const auto warmup = optimizer.warmup_epochs;
  if (epoch < warmup)
    return rate * (double(epoch) + 1) / (double(warmup) + 1);
  const auto t = epoch - warmup;
  switch (optimizer.schedule) {
  case schedule_kind::cosine: {
    if (epochs <= warmup || t >= epochs - warmup)
      return epochs <= warmup ? rate : 0;
    const auto share = double(t) / double(epochs - warmup);
    return rate * (1 + std::cos(std::numbers::pi * share)) / 2;
  }
  case schedule_kind::step:
    if (optimizer.step_epochs == 0)
      return rate;
    return rate * std::pow(optimizer.step_factor, t / optimizer.step_epochs);
  default:
    return rate;
  }
}

bool early_stopping::report(std::uint32_t epoch, double value) {
  const auto better = !std::isnan(value) && (!best_ || value > *best_);
  if (!better) {
    ++since_;
    return false;
  }
  best_ = value;
  best_epoch_ = epoch;
  since_ = 0;
  return true;
}

} // namespace graphmill
