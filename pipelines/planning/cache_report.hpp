#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// What caches of one size leave to be asked for, over all daemons together.
struct cache_size {
  /// What the cache of a daemon holds, as a share of the feature rows that a
  /// part has on average.
  double fraction = 0;
  /// The same in bytes, as one would write it at `fetch.cache`.
  std::uint64_t bytes = 0;
  /// How many rows are asked for in an epoch if the cache is chosen by how
  /// likely nodes are in a batch, and if by their degree.
  std::uint64_t vip = 0;
  std::uint64_t degree = 0;
  /// How few it could have been, with the best choice for that very epoch.
  std::uint64_t least = 0;
};

/// How many remote rows an epoch of training asks for at several sizes of the
/// cache. Value type.
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
