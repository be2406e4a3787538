#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace graphmill {

/// What fraction of the feature rows that an epoch of training wants is to be
/// expected from disk if a cache of `cache_bytes` holds those likeliest to be
/// wanted, by `inclusion`, or by degree where that knows no chances: about what
/// is left after the first epoch. Reads the neighbour lists of all parts once
/// per hop.
/// @param shards All parts, in order.
result<double>
expected_disk_fraction(const definition& def,
                       const std::shared_ptr<const partitioned_graph>& graph,
                       std::span<const std::shared_ptr<const shard>> shards,
                       std::uint64_t cache_bytes);

} // namespace graphmill
