#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/remote/calls/sampling_call.hpp"
#include "actors/remote/remote_part.hpp"

#include <chrono>
#include <cstdint>

namespace graphmill {

/// What the proxy of a remote SAMPLING SERVICE needs.
struct remote_sampling_config {
  remote_part to;
  std::uint32_t window = 32; ///< Requests under way at most.
  /// How long a job waits for others of its batch and hop: all that come until
  /// then travel in one request.
  std::chrono::microseconds gather_time{200};
  /// Requests whose answers are likely to be larger than this are cut. Bytes.
  std::uint64_t reply_bytes = std::uint64_t{4} << 20;
  std::size_t named_nodes = most_named_nodes;
};

/// Spawns an actor that answers like the SAMPLING SERVICE of a part, by asking
/// the daemon that serves it.
sampling_service_actor
spawn_remote_sampling_service(caf::actor_system& system,
                              remote_sampling_config config);

} // namespace graphmill
