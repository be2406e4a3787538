#pragma once

#include "tests/pipelines/gradients/ranks.hpp"

#include <cstdint>

namespace graphmill::test {

/// Of what becomes of messages in memory.
inline constexpr std::uint64_t network_seed = 20;

/// Connects ranks of this process that share a store, by messages over a
/// network in memory that delays them, lets them overtake each other, loses
/// them or their answers, and sends them again.
group_rank::connector memory_connector(std::shared_ptr<rendezvous_store> store,
                                       std::shared_ptr<orphan_threads> orphans);

} // namespace graphmill::test
