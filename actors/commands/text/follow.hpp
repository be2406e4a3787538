#pragma once

#include "actors/process/signals.hpp"
#include "messages/base/error.hpp"

#include <chrono>
#include <functional>

namespace graphmill {

/// How often `follow` looks, and how long it bears not to see anything.
struct follow_pace {
  std::chrono::milliseconds interval = std::chrono::milliseconds{500};
  /// From the first look that fails; the coordinator may be started anew
  /// meanwhile.
  std::chrono::milliseconds patience = std::chrono::seconds{60};
};

/// Looks again and again at what goes on in a cluster, and prints it: until it
/// is over, nobody takes what is printed, a signal comes, the terminal is
/// closed, or the coordinator has been out of reach for too long. That it is
/// out of reach is said once, on standard error.
/// @param look Whether it is over by now. What fails with something that may
/// pass (`may_pass`) is tried again.
/// @returns whether there is no more to print: false after a signal
/// or without the terminal.
result<bool> follow(const std::function<result<bool>()>& look,
                    signal_watch& signals, follow_pace pace = {});

} // namespace graphmill
