#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/remote/calls/row_audit.hpp"
#include "actors/remote/remote_part.hpp"
#include "messages/definition/definition.hpp"
#include "partition/sampling/rows/row_cache.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <spdlog/fwd.h>

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
  std::shared_ptr<const sampling_scheme> scheme; ///< Of training.
  rank_id world = 1;
  std::vector<rank_id> ranks; ///< Trained here.
  /// How to reach a part of another daemon, with counters of its own.
  std::function<remote_part(part_id)> remote;
  std::shared_ptr<row_cache> cache; ///< Closed and empty.
  /// Requests to one daemon that may be under way while rows are chosen.
  std::uint32_t window = 2;
  /// The most bytes of rows that are under way while rows are fetched, from all
  /// other daemons together.
  std::uint64_t job_bytes = std::uint64_t{32} << 20;
  std::shared_ptr<spdlog::logger> log; ///< Null: none.
  /// Chooses which rows are checked before they are kept; null: none.
  std::shared_ptr<row_audit> audit = nullptr;
  /// Tells of answers that have come, and of pieces of rows that wait; null:
  /// nobody reads it.
  std::shared_ptr<actor_gauge> gauge = nullptr;
};

/// Spawns the CACHE FILLER: chooses the remote rows that the trainers here want
/// most, within `def.fetch.cache` bytes, by the order that the definition says,
/// asks their owners for them and opens the cache. To choose, it asks the
/// owners of other parts about in-edges (`inclusion`) or degrees. Parts that
/// are here it reads itself, in pieces of a moment, so that it goes on taking
/// messages. It answers with an error if anything fails.
cache_filler_actor spawn_cache_filler(caf::actor_system& system,
                                      cache_filler_config config);

} // namespace graphmill
