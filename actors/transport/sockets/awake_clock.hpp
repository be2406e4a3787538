#pragma once

#include "actors/transport/sessions/message.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace graphmill {

/// A clock that stands still while nobody looks at it. By it a process that was
/// stopped, or a machine that was suspended, does not take others for silent,
/// who could not be heard: neither when it wakes up, nor when all wake up
/// together.
///
/// Of each time without a look `longest_gap` counts: whoever is always late
/// does not wait forever. For one thread, which looks more often than that.
class awake_clock {
public:
  static constexpr std::chrono::milliseconds longest_gap{3000};

  /// @param real The time of a clock that does not stand still.
  session_time look(session_time real) {
    const auto before = std::exchange(looked_at_, real);
    if (before != session_time{})
      missed_ += std::max<session_time::duration>(real - before - longest_gap,
                                                  session_time::duration{0});
    return real - missed_;
  }

  /// When the clock that does not stand still will show what this one shows
  /// then, if it is looked at until then.
  session_time real(session_time awake) const {
    return awake > session_time::max() - missed_ ? session_time::max()
                                                 : awake + missed_;
  }

private:
  session_time looked_at_{};
  session_time::duration missed_{0};
};

} // namespace graphmill
