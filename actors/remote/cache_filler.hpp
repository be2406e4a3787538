#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/remote/route.hpp"
#include "messages/definition/definition.hpp"
#include "partition/sampling/row_cache.hpp"

#include <spdlog/logger.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace graphmill {

/// What the CACHE FILLER of a member needs.
struct cache_filler_config {
  definition def;
  std::shared_ptr<const partitioned_graph> graph;
  /// By part. Null: another daemon serves it.
  std::vector<std::shared_ptr<const shard>> shards;
  std::shared_ptr<const sampling_plan> plan; ///< Of training.
  rank_id world = 1;
  std::vector<rank_id> ranks; ///< Trained here.
  /// How to reach a part of another daemon, with counters of its own.
  std::function<remote_part(part_id)> route;
  std::shared_ptr<row_cache> cache; ///< Closed and empty.
  /// Requests to one daemon at a time, of the choice.
  std::uint32_t window = 2;
  /// Rows that jobs of feature proxies ask for at once, in bytes: all parts of
  /// other daemons together.
  std::uint64_t job_bytes = std::uint64_t{32} << 20;
  std::shared_ptr<spdlog::logger> log; ///< Null: none.
};

/// Spawns the CACHE FILLER: chooses the remote rows that the trainers here want
/// most, within `def.fetch.cache` bytes, by the order that the definition says,
/// asks their owners for them and opens the cache. For the choice it asks the
/// owners of all parts what they know of in-edges (`inclusion`) or degrees; its
/// own parts it looks at itself, a moment's work at a time. Whatever fails is
/// the answer, in a sentence.
cache_filler_actor spawn_cache_filler(caf::actor_system& system,
                                      cache_filler_config config);

} // namespace graphmill
