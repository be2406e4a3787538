#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/run.hpp"

#include <cstdint>
#include <memory>
#include <string>

// Messages and interface of the COORDINATOR.

namespace graphmill {

struct run_outcome;

/// A request of a daemon or client, from the transport.
struct incoming {
  incoming_request request;
};
/// A peer has come or gone, as the transport tells.
struct peer_news {
  peer_event event;
};
/// The answer to the call that an actor made under `ticket`, from the
/// transport.
struct call_ended {
  std::uint64_t ticket = 0;
  std::shared_ptr<result<payload>> answer;
};
/// News of a run that is on, from its conductor.
struct run_news_came {
  std::string run;
  run_news news;
};
/// The conductor has come to the end of its course.
struct run_ended {
  std::string run;
  std::shared_ptr<run_outcome> outcome;
  std::uint32_t attempt = 1;
};
/// A daemon has answered an order of a run by saying that another coordinator
/// leads the cluster.
struct successor_named {
  daemon_address daemon;
  error said;
};
/// The user has asked the daemon to end.
struct end_orderly {};
/// A request that waits at the coordinator has its turn.
struct next_request {};
/// It is time for the coordinator to look at what waits.
struct coordinator_tick {};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::incoming)
GRAPHMILL_LOCAL_MESSAGE(graphmill::peer_news)
GRAPHMILL_LOCAL_MESSAGE(graphmill::call_ended)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_news_came)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_ended)
GRAPHMILL_LOCAL_MESSAGE(graphmill::successor_named)
GRAPHMILL_LOCAL_MESSAGE(graphmill::end_orderly)
GRAPHMILL_LOCAL_MESSAGE(graphmill::next_request)
GRAPHMILL_LOCAL_MESSAGE(graphmill::coordinator_tick)

namespace graphmill {

/// The COORDINATOR: who is in the cluster, and what it runs.
using coordinator_actor = caf::typed_actor<
  // Daemons and clients ask.
  takes<incoming>,
  // Daemons have come or gone.
  takes<peer_news>,
  // The CONDUCTOR of a run.
  takes<run_news_came>, takes<run_ended>,
  // A MEMBER of it elsewhere: its daemon does not obey.
  takes<successor_named>,
  // The daemon: end the runs that are on as a user would, then tell.
  takes<end_orderly>,
  // INTERNAL: a call or a job on a thread has ended; a request has its turn; it
  // is time to look.
  takes<call_ended>, takes<next_request>, takes<coordinator_tick>>;

} // namespace graphmill
