#pragma once

#include "partition/partitioners/graph/loads.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Assigns vertices to parts at random, but evenly. The vertices of a type,
/// its training seeds apart from the rest, are sorted by in-degree (ties by a
/// keyed hash) and dealt out in rounds: the `parts` vertices of a round go to
/// distinct parts, in an order that the key draws anew for each round. So parts
/// differ by at most two nodes of each type and one seed, and little in
/// in-edges. A pure function of its arguments. Memory is O(vertices).
std::vector<part_id> partition_by_hash(const vertex_loads& loads, part_id parts,
                                       std::uint64_t seed);

} // namespace graphmill
