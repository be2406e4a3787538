#include "actors/cluster/daemon/shares/share_keeper.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "actors/process/logs/log_lines.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace graphmill {

share_keeper::share_keeper(agent_actor::pointer self,
                           const hosted_shares& shares,
                           std::shared_ptr<spdlog::logger> log)
  : self_(self), shares_(shares), log_(std::move(log)) {}

/// Trainers answer at once, even one that waits for the gradients of a lost
/// rank: another thread has these.
void share_keeper::keep_and_then(const share_ptr& share,
                                 std::function<void()> then) {
  const auto& assigned = share->assignment;
  const auto trains =
    std::ranges::count(assigned.daemon_of_rank, assigned.you) != 0;
  if (!trains || assigned.def.recovery.wait == 0
      || share->life.now() != share_life::state::hosted) {
    then();
    return;
  }
  requests_
    .ask(self_, share->member, timeouts::keep,
         trainer_request{trainer_action::keep})
    .then(
      [this, share, then](const member_state& state) {
        if (shares_.contains(share) && !share->dropped)
          keep(*share, state);
        then();
      },
      [this, share, then](const caf::error& reason) {
        const auto& run = share->assignment.run;
        log_about(log_, {.run = run})
          ->warn("run {}: nothing is kept: {}", run,
                 from_caf(reason, "a trainer").message);
        then();
      });
}

/// Keeps the trainer that is furthest: others may have a step to apply yet.
void share_keeper::keep(const hosted_share& share, const member_state& state) {
  const trainer_state* furthest = nullptr;
  for (const auto& trainer : state.trainers)
    if (trainer.at && trainer.parameters
        && (furthest == nullptr
            || trainer.at->train_steps > furthest->at->train_steps))
      furthest = &trainer;
  if (furthest == nullptr)
    return;
  const auto& at = *furthest->at;
  const auto& run = share.assignment.run;
  log_about(log_, {.run = run})
    ->info("run {}: its state in epoch {}, after step {}, is kept", run,
           at.epoch + 1, at.step);
  const auto wait = std::chrono::seconds{share.assignment.def.recovery.wait};
  kept_.keep({run,
              share.assignment.attempt(),
              furthest->rank,
              furthest->digest,
              {at, furthest->so_far, furthest->parameters}},
             kept_state::clock::now() + wait + timeouts::kept_longer);
}

} // namespace graphmill
