#pragma once

#include <chrono>

namespace graphmill {

/// A time since 1970, in UTC; 0 stands for what has not come yet.
using unix_time = std::chrono::milliseconds;

/// By the wall clock of this machine.
inline unix_time now_unix() {
  return std::chrono::duration_cast<unix_time>(
    std::chrono::system_clock::now().time_since_epoch());
}

} // namespace graphmill
