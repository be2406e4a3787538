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
  /// Hands a batch out. @returns whether there was room for it now: if not, it
  /// is asked again when another batch comes back.
  std::function<bool(std::uint64_t sequence, std::uint64_t pass,
                     const formed_batch&)>
    hand;
  std::shared_ptr<actor_gauge> gauge;
  /// Takes over batches that the consumer still has when the outlet ends.
  /// Stages that end later would otherwise reuse their memory. Destroyed after
  /// all actors; never null.
  std::shared_ptr<std::vector<std::shared_ptr<minibatch>>> left;
};

/// Spawns an OUTLET. A batch is
///
///     made -- handed (has credit) -- returned (credit is back) -- freed
///
/// and its memory stays until it is freed. A consumer may free it before it
/// returns it. Batches depend on their key alone, so one that was made for an
/// abandoned pass serves the present one if its key is the next.
outlet_actor spawn_outlet(caf::actor_system& system, outlet_config config);

} // namespace graphmill
