#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace graphmill {

/// Where a long piece of work stands. Without a phase it says that something
/// else is about to be printed: a display takes away what it shows of a phase.
struct progress {
  std::string_view phase;      ///< What is being done: "sort edges", ...
  std::uint64_t done = 0;      ///< Units of this phase finished.
  std::uint64_t total = 0;     ///< Units of this phase in all; 0 = unknown.
  double estimate_seconds = 0; ///< Of the whole work; 0 = unknown.
};

/// Called from the working thread, a few times a second at most. May be empty.
using progress_callback = std::function<void(const progress&)>;

} // namespace graphmill
