#pragma once

#include "actors/base/timeouts.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace graphmill {

/// Tells an actor that looks at the time again and again how much of it passed
/// between two looks while it could not: its process was stopped, or the
/// machine suspended. What others owe the actor has as much longer.
///
/// Of each gap `timeouts::late_look` counts as time that passed: else whoever
/// is always late would wait forever. For one thread.
class missed_time {
public:
  using clock = std::chrono::steady_clock;

  /// Looks at the time.
  /// @returns what is missing since the look before; none at the first.
  clock::duration look(clock::time_point now) {
    const auto looked = std::exchange(looked_at_, now);
    if (looked == clock::time_point{})
      return {};
    return std::max<clock::duration>(now - looked - timeouts::late_look, {});
  }

private:
  clock::time_point looked_at_{};
};

} // namespace graphmill
