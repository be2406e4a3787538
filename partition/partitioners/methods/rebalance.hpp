#pragma once

#include "partition/partitioners/graph/loads.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace graphmill {

/// Moves vertices out of parts that exceed a cap until none does, or until
/// neither a move nor a swap (see swap.hpp) lowers the excess any more. Takes
/// the moves that cut the fewest edges per unit of balance won; ties go to the
/// lower vertex number. Deterministic. Memory: O(vertices of overfull parts).
///
/// This is also how a constraint that was too small for METIS is dealt out: its
/// few units move to parts that lack them, and if that overfills a part with
/// something else, others move back.
/// @param assignment [vertices] Changed in place, and `held` with it.
/// @param keep_going Asked now and then; false ends the work. May be empty.
/// @returns How many moves and swaps were made.
std::int64_t rebalance(const neighbour_lists& neighbours,
                       const vertex_loads& loads, part_loads& held,
                       std::span<part_id> assignment,
                       const std::function<bool()>& keep_going = {});

} // namespace graphmill
