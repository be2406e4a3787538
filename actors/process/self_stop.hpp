#pragma once

#include "messages/base/error.hpp"

#include <chrono>

namespace graphmill {

/// Stops this process with all its threads, as SIGSTOP does, and has it go on
/// after `time`. The calling thread returns then. A child of this process sends
/// both signals; if this process is killed meanwhile, the child ends, too.
result<void> stop_this_process(std::chrono::milliseconds time);

} // namespace graphmill
