#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/remote/calls/row_audit.hpp"
#include "actors/remote/remote_part.hpp"
#include "partition/sampling/rows/row_cache.hpp"
#include "partition/sampling/rows/row_census.hpp"

#include <cstdint>

namespace graphmill {

/// What the proxy of a remote FEATURE SERVICE needs.
struct remote_feature_config {
  remote_part to;
  std::uint32_t window = 8; ///< Requests under way at most.
  /// Requests are cut so that an answer has no more than this, unless a single
  /// row has. Bytes.
  std::uint64_t reply_bytes = max_frame_bytes;
  bool half = false; ///< Features are rounded to float16 and travel so.
  /// Rows that need not be asked for once the cache is open; null: no cache. It
  /// must have been filled with the same `half`.
  std::shared_ptr<const row_cache> cache;
  /// Chooses what the owner must prove; null: nothing. The graph must be one
  /// that `proves_rows`.
  std::shared_ptr<row_audit> audit = nullptr;
  /// Counts the rows that are asked for; null: nobody does.
  std::shared_ptr<row_census> census = nullptr;
};

/// Spawns an actor that answers like the FEATURE SERVICE of a part, by asking
/// the daemon that serves it. Rows go straight from the message into the
/// requester's memory, which the job's owner keeps alive until the last
/// request about it is over. Nothing is written for a job that has failed.
/// A job with values that are checked is answered once their owner has proved
/// them, so that nobody computes with others: a batch waits for that as it
/// waits for its rows, while those before it are computed.
feature_service_actor
spawn_remote_feature_service(caf::actor_system& system,
                             remote_feature_config config);

} // namespace graphmill
