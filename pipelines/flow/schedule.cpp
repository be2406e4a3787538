#include "pipelines/flow/schedule.hpp"

#include <cmath>
#include <numbers>

namespace graphmill {

namespace {

// The conductor computes rates, on a CPU that need not be any trainer's, nor of
// the same kind in the next run; a rate that differs in the last bit would
// change the weights. The C library's functions of doubles have kernels for
// every kind of CPU, which may round differently. Those of long doubles have
// not, and their results are rounded to doubles once.

/// `base` to the power of `exponent`, by multiplications alone: squares are
/// taken for the bits of the exponent.
long double power(long double base, std::uint32_t exponent) {
  long double out = 1;
  for (; exponent != 0; exponent /= 2, base *= base)
    if (exponent % 2 != 0)
      out *= base;
  return out;
}

/// From 1 down to 0 while `share` goes from 0 to 1.
long double half_cosine(long double share) {
  return (1 + std::cos(std::numbers::pi_v<long double> * share)) / 2;
}

} // namespace

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
    const auto share = static_cast<long double>(t) / (epochs - warmup);
    return static_cast<double>(rate * half_cosine(share));
  }
  case schedule_kind::step:
    if (optimizer.step_epochs == 0)
      return rate;
    return static_cast<double>(
      rate * power(optimizer.step_factor, t / optimizer.step_epochs));
  default:
    return rate;
  }
}

bool early_stopping::report(double value, bool counts) {
  const auto better = !std::isnan(value) && (!best_ || value > *best_);
  const auto gains =
    window_ > 1 ? std::isfinite(value) && average_gains(value) : better;
  if (gains)
    since_ = 0;
  else
    since_ += counts ? 1 : 0;
  if (better)
    best_ = value;
  return better;
}

/// Takes a value into the average. @returns whether that is the best so far.
bool early_stopping::average_gains(double value) {
  auto& [now, best] = averages_;
  now = best_ ? now + 2 / (double(window_) + 1) * (value - now) : value;
  if (best_ && now <= best)
    return false;
  best = now;
  return true;
}

} // namespace graphmill
