#pragma once

#include "tests/pipelines/gradients/ranks.hpp"

namespace graphmill::test {

/// Connects ranks of this process that share a store, by memory.
group_rank::connector memory_connector(std::shared_ptr<rendezvous_store> store);

} // namespace graphmill::test
