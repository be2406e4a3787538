#pragma once

#include "messages/wire/health.hpp"

namespace graphmill {

/// What limits a feed, and the remedy, for who writes the loop that takes its
/// batches: an outlet is in the place of the trainer. Its `limit` is "loop" if
/// the loop itself limits; else as of `verdict_of`.
verdict loop_verdict(const run_health& run);

} // namespace graphmill
