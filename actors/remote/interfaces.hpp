#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/interfaces.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/method.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

// Messages and interfaces of the data plane between daemons.

namespace graphmill {

/// The answer to a proxy's request number `ticket`, from the transport.
struct remote_reply {
  std::uint64_t ticket = 0;
  payload data;
  std::optional<error> failure;
  std::string from{}; ///< The answering daemon, if several could answer.
};
/// Jobs of this batch and hop have waited long enough for others.
struct send_hop {
  std::uint64_t key = 0;
  std::int32_t hop = 0;
};

/// Another daemon's request for a part that this one serves.
struct data_request {
  graphmill::method method = graphmill::method::unset;
  payload data;
  std::chrono::steady_clock::time_point deadline;
  std::string from; ///< The caller's incarnation.
  /// Receives the answer, once. If it is dropped without one, the other side
  /// gets an error.
  std::function<void(result<payload>)> reply;
};
/// From now on, requests for this part of this run are answered.
struct serve_part {
  std::string run;
  std::shared_ptr<const shard> part;
  sampling_service_actor sampling;
  feature_service_actor features;
  std::shared_ptr<buffer_pool> pool;
};
/// From now on, whole batches of this run are sampled for other daemons.
struct serve_batches {
  std::string run;
  std::shared_ptr<const partitioned_graph> graph;
  sampler_actor sampler;
  /// A batch kind of the run's definition.
  struct kind {
    std::shared_ptr<const sampling_scheme> sampling;
    std::uint32_t most_seeds = 0; ///< Of all node types together.
  };
  kind train;
  kind evaluate;
};
/// The run has ended here: none of its parts is served any more.
struct withdraw_run {
  std::string run;
};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::remote_reply)
GRAPHMILL_LOCAL_MESSAGE(graphmill::send_hop)
GRAPHMILL_LOCAL_MESSAGE(graphmill::data_request)
GRAPHMILL_LOCAL_MESSAGE(graphmill::serve_part)
GRAPHMILL_LOCAL_MESSAGE(graphmill::serve_batches)
GRAPHMILL_LOCAL_MESSAGE(graphmill::withdraw_run)

namespace graphmill {

/// The DATA SERVER of a daemon answers other daemons' requests for neighbours
/// and rows of its parts, and for batches.
using data_server_actor = caf::typed_actor<
  // A request of a daemon.
  takes<data_request>,
  // The AGENT has spawned the services of a part or a sampler, or ends a run.
  takes<serve_part>, takes<serve_batches>, takes<withdraw_run>>;

} // namespace graphmill
