#pragma once

#include "actors/commands/options/exit_codes.hpp"
#include "messages/wire/health.hpp"

#include <string>

namespace graphmill {

/// What an actor is called: "trainer 0", "feature proxy 1 -> d2".
std::string health_label(const actor_health& actor);

/// "20 s", "3 min", "2.1 h"; "-" for what is not known, which is negative.
std::string health_seconds(double seconds);

/// Two lines: where a run is, and what it learns.
std::string health_progress(const run_progress& now);

/// The first lines of how a run is: its verdict, how far it is.
std::string health_head(const run_health& run, const std::string& standing);

/// How a run is: its verdict, how far it is, and each actor of each daemon.
/// `run_screen` has a screen of it. @param standing What its record says, as of
/// its last recovery; may be empty.
std::string health_text(const run_health& run, const std::string& standing);

/// `exit_troubled` if a daemon is silent, or an actor has failed or was
/// replaced lately; else 0.
int health_code(const run_health& run);

} // namespace graphmill
