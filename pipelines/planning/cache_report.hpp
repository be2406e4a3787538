#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// What caches of one size leave to be asked for, over all daemons.
struct cache_size {
  double fraction = 0;     ///< Of the feature rows of a part, on average.
  std::uint64_t bytes = 0; ///< Of rows, per daemon: `fetch.cache`.
  std::uint64_t vip = 0;   ///< Rows asked for in an epoch, by either order.
  std::uint64_t degree = 0;
  std::uint64_t least = 0; ///< By hindsight: the fewest for that epoch.
};

/// Remote rows of an epoch of training at several sizes of the cache.
struct cache_report {
  part_id parts = 0;
  rank_id trainers = 0;
  std::int64_t steps = 0;
  std::vector<cache_size> sizes; ///< The first one is no cache at all.
};

/// Counts what a run of a definition would ask of other daemons, by sampling
/// the very batches of one epoch, all in this thread. Every part has a daemon
/// of its own, and trainers are placed as `place` does. Caches are chosen as
/// for a run; both orders have the same rows to choose from.
/// @param def Valid for the graph.
result<cache_report>
count_remote_rows(const definition& def,
                  const std::shared_ptr<const partitioned_graph>& graph,
                  std::int32_t epoch = 0);

} // namespace graphmill
