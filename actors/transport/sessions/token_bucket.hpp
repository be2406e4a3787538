#pragma once

#include "actors/transport/sessions/message.hpp"

#include <algorithm>
#include <chrono>

namespace graphmill {

/// Lets through so many events per second in the long run, and a burst of them
/// at once. Is told the time, which never goes back.
class token_bucket {
public:
  token_bucket(double per_second, double burst)
    : per_second_(per_second), burst_(burst), level_(burst) {}

  /// Events that may come now.
  double level(session_time now) const {
    const std::chrono::duration<double> passed = now - since_;
    return std::min(burst_, level_ + per_second_ * passed.count());
  }
  bool is_full(session_time now) const { return level(now) >= burst_; }

  /// An event has come. The level never falls below that of no event.
  void take(session_time now) {
    level_ = std::max(0.0, level(now) - 1);
    since_ = now;
  }

private:
  double per_second_;
  double burst_;
  double level_;
  session_time since_{};
};

} // namespace graphmill
