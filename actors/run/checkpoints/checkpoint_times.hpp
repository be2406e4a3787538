#pragma once

#include "messages/definition/definition.hpp"

#include <chrono>
#include <cstdint>

namespace graphmill {

/// When checkpoints of a run are due, besides those at the edges of epochs.
/// Part of the CONDUCTOR's state.
class checkpoint_times {
public:
  using clock = std::chrono::steady_clock;

  checkpoint_times(const definition::checkpoint_section& how,
                   clock::time_point now)
    : how_(how), last_(now) {}

  /// Whether one is due after so many training steps.
  bool is_due(std::int64_t steps, clock::time_point now) const {
    return (how_.every_steps != 0 && steps % how_.every_steps == 0)
           || (how_.every_minutes != 0
               && now - last_ >= std::chrono::minutes{how_.every_minutes});
  }

  /// One has been asked for.
  void asked(clock::time_point now) { last_ = now; }

private:
  definition::checkpoint_section how_;
  clock::time_point last_;
};

} // namespace graphmill
