#pragma once

#include "messages/wire/cluster.hpp"

#include <chrono>
#include <string>

namespace graphmill {

/// Local date and time of day; "-" for 0.
std::string time_text(unix_time when);

/// "0.4 s", "3 min 20 s", "2 h 05 min".
std::string duration_text(std::chrono::milliseconds time);

} // namespace graphmill
