#pragma once

#include "messages/wire/health.hpp"

#include <string>

namespace graphmill {

/// How a run is, on one screen however many actors it has: its verdict, how far
/// it is, by name whoever is in trouble, its actors by what they are, and its
/// daemons. `health_text` has all the rest.
/// @param standing What its record says, as of its last recovery; may be empty.
std::string run_screen(const run_health& run, const std::string& standing);

} // namespace graphmill
