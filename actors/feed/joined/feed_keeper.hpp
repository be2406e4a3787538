#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/cluster/base/coordinator_interface.hpp"
#include "actors/feed/feed_frames.hpp"
#include "actors/transport/transport.hpp"
#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

// Messages and interface of the FEED KEEPER.

namespace graphmill {

/// The daemon of the consumer is in the cluster.
struct consumer_joined {};
/// It cannot be there, or not any more.
struct consumer_refused {
  error reason;
};
/// All shares of a run that feeds the consumer are there.
struct feed_begun {
  std::string run;
};
/// The consumer's share of a run has ended, or can make no more batches.
struct feed_share_ended {
  std::string run;
};
/// The consumer has got a batch.
struct consumer_fed {};
/// It is time to look.
struct feed_tick {};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::consumer_joined)
GRAPHMILL_LOCAL_MESSAGE(graphmill::consumer_refused)
GRAPHMILL_LOCAL_MESSAGE(graphmill::feed_begun)
GRAPHMILL_LOCAL_MESSAGE(graphmill::feed_share_ended)
GRAPHMILL_LOCAL_MESSAGE(graphmill::consumer_fed)
GRAPHMILL_LOCAL_MESSAGE(graphmill::wanted_verdict)
GRAPHMILL_LOCAL_MESSAGE(graphmill::feed_tick)

namespace graphmill {

/// The FEED KEEPER of a consumer has a run of the cluster feed it, and another
/// one after a loss, by a FEED CLAIM.
using feed_keeper_actor = caf::typed_actor<
  // The AGENT.
  takes<consumer_joined>, takes<consumer_refused>, takes<feed_begun>,
  takes<feed_share_ended>,
  // An OUTLET.
  takes<consumer_fed>,
  // The consumer.
  takes<wanted_verdict>,
  // INTERNAL: an answer has come; it is time to look.
  takes<call_ended>, takes<feed_tick>>;

/// What a FEED KEEPER needs.
struct feed_keeper_config {
  definition def; ///< Of the feed.
  std::vector<std::string> coordinators;
  std::shared_ptr<transport> net;
  /// Gets what the consumer waits for whenever that changes, and at last why
  /// the feed cannot go on.
  std::function<void(const std::string&)> waits;
  std::function<void(const error&)> failed;
  /// Gets what limits the feed, when that was asked for.
  std::function<void(const result<verdict>&)> judged;
};

feed_keeper_actor spawn_feed_keeper(caf::actor_system& system,
                                    feed_keeper_config config);

} // namespace graphmill
