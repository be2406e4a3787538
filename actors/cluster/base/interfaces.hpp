#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/interfaces.hpp"
#include "actors/run/conductor.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/run/member/member.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/role.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Messages and interfaces of the actors that make a cluster of daemons.

namespace graphmill {

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
/// News of the run that is on, from its conductor.
struct run_news_came {
  std::string run;
  run_news news;
};
/// The conductor has ended.
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
/// The folder of a run is back where its next attempt begins, or cannot be. Of
/// the state that it begins with; nothing: from the beginning.
struct run_rewound {
  using state = std::optional<training_state>;
  std::string run;
  std::uint32_t attempt = 1;
  std::shared_ptr<result<state>> from;
};
/// A run is over, and all it leaves is written.
struct run_filed {
  run_record record;
};
struct submitted_run;
/// A run that was submitted now has its folder and its place in the history, or
/// it cannot be taken, and why.
struct run_taken {
  std::shared_ptr<result<submitted_run>> run;
  responder reply;
  std::string home; ///< What counts as the host of who submitted it.
};
/// Changes of runs have been written to the history, or this has failed.
struct records_written {
  std::optional<error> failure;
};
/// A request that waits at the coordinator has its turn.
struct next_request {};
/// The members file has been looked at. Null: it says what it said before.
struct members_read {
  using content = result<std::vector<key_holder>>;
  std::shared_ptr<content> said;
};
/// The user has asked the daemon to end.
struct end_orderly {};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::incoming)
GRAPHMILL_LOCAL_MESSAGE(graphmill::peer_news)
GRAPHMILL_LOCAL_MESSAGE(graphmill::call_ended)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_prepared)
GRAPHMILL_LOCAL_MESSAGE(graphmill::share_ready)
GRAPHMILL_LOCAL_MESSAGE(graphmill::share_verified)
GRAPHMILL_LOCAL_MESSAGE(graphmill::data_seen)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_orphaned)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_news_came)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_ended)
GRAPHMILL_LOCAL_MESSAGE(graphmill::successor_named)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_rewound)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_filed)
GRAPHMILL_LOCAL_MESSAGE(graphmill::run_taken)
GRAPHMILL_LOCAL_MESSAGE(graphmill::records_written)
GRAPHMILL_LOCAL_MESSAGE(graphmill::next_request)
GRAPHMILL_LOCAL_MESSAGE(graphmill::members_read)
GRAPHMILL_LOCAL_MESSAGE(graphmill::end_orderly)

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

/// The COORDINATOR: who is in the cluster, and what it runs.
using coordinator_actor = caf::typed_actor<
  // Daemons and clients ask.
  takes<incoming>,
  // Daemons have come or gone.
  takes<peer_news>,
  // The CONDUCTOR of the run that is on.
  takes<run_news_came>, takes<run_ended>,
  // A MEMBER of it elsewhere: its daemon does not obey.
  takes<successor_named>,
  // INTERNAL: the members file has been looked at.
  takes<members_read>,
  // The daemon: end the run that is on as its user would, then tell.
  takes<end_orderly>,
  // INTERNAL, in this order: an answer has come; a submitted run has its
  // folder; that of one that is attempted again is back where that begins; a
  // run that is over is filed; the history is written; a request has its turn;
  // it is time to look at watchers and questions.
  takes<call_ended>, takes<run_taken>, takes<run_rewound>, takes<run_filed>,
  takes<records_written>, takes<next_request>, takes<tick>>;

} // namespace graphmill
