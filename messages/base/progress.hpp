#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace graphmill {

/// The progress of long work. Without a phase it announces other output: a
/// display removes what it shows of a phase.
struct progress {
  std::string_view phase;      ///< The current phase: "sort edges", ...
  std::uint64_t done = 0;      ///< Units of this phase finished.
  std::uint64_t total = 0;     ///< Units of this phase in all; 0 = unknown.
  double estimate_seconds = 0; ///< Of the whole work; 0 = unknown.
};

/// Called from the working thread, a few times a second at most. May be empty.
using progress_callback = std::function<void(const progress&)>;

} // namespace graphmill
