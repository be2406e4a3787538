#pragma once

#include "messages/wire/trace.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <cstddef>
#include <cstdint>

namespace graphmill {

/// What the actors of a board did, from span number `from` on, as an answer to
/// `spans` has it: up to its place for the clocks, and without names. Any
/// thread may ask, also when the actors have ended.
/// @param most So many at most, and no more than the limit; 0: nothing but the
/// clock.
trace_reply trace_of(const gauge_board& board, std::uint64_t from,
                     std::size_t most);

/// Of the steady clock, nanoseconds.
std::int64_t trace_time();

} // namespace graphmill
