#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace graphmill {

/// Shares of the nodes that go to training, validation and test. What their
/// sum leaves of 1 goes to none.
using split_fractions = std::array<double, 3>;

/// None negative, the first above 0, and at most 1 together.
result<void> validate(const split_fractions& fractions);

/// Draws the splits of nodes 0 .. count - 1: the nodes are ordered by a hash
/// keyed with `seed`; the first `shares[0] * count` of them (rounded down)
/// train, those up to `(shares[0] + shares[1]) * count` validate, and so on;
/// shares that add up to 1 leave nobody out. Exact in its proportions, and a
/// pure function of its arguments.
/// @returns Ascending ids per split.
std::array<std::vector<node_id>, 3>
keyed_split(std::int64_t count, const split_fractions& fractions,
            std::uint64_t seed);

} // namespace graphmill
