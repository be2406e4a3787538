#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/feed/feed_frames.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace graphmill {

/// From now on, batches of this phase and pass are wanted.
struct wanted_pass {
  graphmill::phase phase = graphmill::phase::train;
  feed_pass pass;
};
struct batches_back {
  std::vector<batch_back> batches;
};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::wanted_pass)
GRAPHMILL_LOCAL_MESSAGE(graphmill::batches_back)

namespace graphmill {

/// An OUTLET stands in the place of a TRAINER, and hands batches to a consumer.
using outlet_actor = trainer_actor::extend<
  // A pass begins; batches of another one are not handed out any more.
  takes<wanted_pass>,
  // The consumer has returned or freed batches.
  takes<batches_back>>;

/// What an OUTLET needs.
struct outlet_config {
  rank_id rank = 0;
  /// Hands a batch out, and keeps it until the consumer frees it. @returns
  /// whether there was room for it now: if not, it is asked again when another
  /// batch comes back.
  std::function<bool(std::uint64_t sequence, std::uint64_t pass,
                     std::shared_ptr<minibatch>)>
    hand;
  std::shared_ptr<actor_gauge> gauge;
};

/// Spawns an OUTLET. A batch is
///
///     made -- handed (has credit) -- returned (credit is back)
///
/// Batches depend on their key alone, so one that was made for an
/// abandoned pass serves the present one if its key is the next.
outlet_actor spawn_outlet(caf::actor_system& system, outlet_config config);

} // namespace graphmill
