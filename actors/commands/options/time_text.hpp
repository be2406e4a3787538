#pragma once

#include "messages/wire/cluster.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// Local date and time of day; "-" for 0.
std::string time_text(unix_time when);

/// "0.4 s", "3 min 20 s", "2 h 05 min".
std::string duration_text(std::chrono::milliseconds time);

/// The time that an age such as "12h", "30d" or "8w" is: hours, days or weeks.
/// Nothing of another text, and of more than a thousand years.
std::optional<unix_time> age_of(std::string_view text);

} // namespace graphmill
