#pragma once

#include "partition/partitioners/graph/loads.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace graphmill {

/// A balance won that is smaller than this is a rounding error.
inline constexpr double least_relief = 1e-12;

/// Lets pairs of vertices of one type change places, where that lowers the
/// excess: what is left to do when every part is full of nodes, so that no
/// single move helps, but one has too many in-edges or seeds. Looks, for the
/// heaviest vertices of overfull parts, at a few partners per part whose weight
/// would even the parts out, and takes the swap that cuts the fewest edges per
/// unit of balance won. Deterministic. Memory: O(vertices).
/// @returns How many pairs changed places; 0 when none can.
std::int64_t swap_round(const neighbour_lists& neighbours,
                        const vertex_loads& loads, part_loads& held,
                        std::span<part_id> assignment,
                        const std::function<bool()>& keep_going = {});

} // namespace graphmill
