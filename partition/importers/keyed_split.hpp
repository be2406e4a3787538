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

/// Fails with `invalid_argument` unless all shares are numbers, none is
/// negative, the first is above 0, and their sum is at most 1 (but for what
/// rounding adds).
result<void> validate(const split_fractions& fractions);

/// Draws the splits of nodes 0 .. count - 1: the nodes are ordered by a hash
/// keyed with `seed`; the first `shares[0] * count` of them (rounded down)
/// train, those up to `(shares[0] + shares[1]) * count` validate, and so on;
/// shares that add up to 1 leave nobody out. The sizes of the splits are exact,
/// which they would be on average only if each node were drawn for on its own.
/// A pure function of its arguments, which takes 16 bytes of memory per node
/// besides the result.
/// @param fractions Have passed `validate`.
/// @returns the ids of training, validation and test, each ascending.
std::array<std::vector<node_id>, 3>
keyed_split(std::int64_t count, const split_fractions& fractions,
            std::uint64_t seed);

} // namespace graphmill
