#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/interfaces.hpp"
#include "actors/cluster/base/coordinator_interface.hpp"
#include "actors/run/conductor.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/run/member/member.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/cluster.hpp"

#include <cstdint>
#include <memory>
#include <string>

// Messages and interface of the AGENT, beside those that it shares with the
// COORDINATOR.

namespace graphmill {

/// What an AGENT needs for a run has been opened and built, or this has failed.
struct run_prepared {
  std::string run;
  std::shared_ptr<result<member_config>> member;
  data_guard::records records{}; ///< Of the data that it has mapped.
};
/// The member of a run has spawned its actors, and published its parts.
struct share_ready {
  std::string run;
  std::uint32_t attempt = 1; ///< Of the run, that the share is of.
};
/// The verification of the data that a run has mapped is over. `sound` says
/// whether they are what the digests say.
struct share_verified {
  std::string run;
  std::uint32_t attempt = 1; ///< Of the run, that the share is of.
  result<void> sound = ok();
};
/// The daemon has looked at its data. `sound` says whether they can be used.
struct data_seen {
  result<void> sound = ok();
};
/// The coordinator does not know a run any more, or cannot be reached.
struct run_orphaned {
  std::string run;
  std::uint32_t attempt = 1; ///< Of the run, that the share is of.
  error reason;
};
} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::run_prepared)
GRAPHMILL_LOCAL_MESSAGE(graphmill::share_ready)
GRAPHMILL_LOCAL_MESSAGE(graphmill::share_verified)
GRAPHMILL_LOCAL_MESSAGE(graphmill::data_seen)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_orphaned)

namespace graphmill {

/// The AGENT of a daemon: hosts its shares of runs, and keeps it in the
/// cluster.
using agent_actor = caf::typed_actor<
  // The coordinator deploys a run or orders something of it.
  takes<incoming>,
  // The coordinator has come, gone or been replaced.
  takes<peer_news>,
  // INTERNAL, in this order: an answer has come; a run is prepared; its actors
  // are spawned; its data were verified; its events reach nobody; the data were
  // looked at; it is time to look whether to register, and at memory and data.
  takes<call_ended>, takes<run_prepared>, takes<share_ready>,
  takes<share_verified>, takes<run_orphaned>, takes<data_seen>, takes<tick>>;

} // namespace graphmill
