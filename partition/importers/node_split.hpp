#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/keyed_split.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// In which order nodes go to training, validation and test: by chance; by
/// chance within each class; or by their times, the oldest first.
enum class split_order : std::uint8_t { random, label, time };

/// A split that is made while importing, of the labelled nodes of the target.
struct split_request {
  split_fractions fractions{};
  split_order order = split_order::random;
  std::uint64_t seed = 0; ///< Of what chance decides.
};

/// Splits the nodes that have a label. Sizes are as `keyed_split` has them, of
/// all labelled nodes or of those of each class. Nodes of the same time are in
/// the order of their ids.
/// @param labels [nodes] -1 = none.
/// @param times [nodes] If the order is by time: finite numbers.
/// @returns the ids of training, validation and test; by time in that order,
/// else ascending.
std::array<std::vector<node_id>, 3>
split_nodes(const split_request& request, std::span<const std::int64_t> labels,
            std::span<const double> times);

} // namespace graphmill
