#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <utility>

// A run whose number of trainers may change. An attempt has one number of them.
// It is chosen when the attempt is placed; so another number takes another
// attempt, which goes on from the state that the one before it has paused with,
// or from what daemons have kept.

namespace graphmill {

// -- fewer

/// The last attempt of a run has lost a daemon, or has paused: says how long
/// the next one waits to have as many trainers again.
void coordinator::wait_for_trainers(submitted_run& run) {
  run.trainers_before = 0;
  shrink_at_ = {};
  if (active_->paused || !run.def.trainer.is_open())
    return;
  run.trainers_before = active_->trainers();
  // It is not to give up before.
  const auto now = clock::now();
  shrink_at_ = now
               + std::min<clock::duration>(timeouts::trainer_returns,
                                           run.recovery.left_at(now) / 2);
}

/// Whether a run that could be placed waits for more trainers still.
bool coordinator::awaits_trainers(submitted_run& run, const placement& where) {
  const auto found = where.daemon_of_rank.size();
  if (found >= run.trainers_before || clock::now() >= shrink_at_)
    return false;
  wait_on(run, fail(ec::unavailable,
                    "there is room for {}, and it had {}; it goes on with "
                    "fewer if nobody comes within seconds",
                    pluralized(found, "trainer"), run.trainers_before));
  return true;
}

// -- more

/// Has the run that is on pause at the next edge of an epoch if more trainers
/// could be placed now. So it does not happen more than once in an epoch.
void coordinator::grow() {
  if (!active_ || ending_ || active_->grows || !active_->conductor
      || active_->turn.now() != run_turn::state::conducting
      || active_->turn.cancelled() || !active_->def.trainer.is_open())
    return;
  const auto where = place_among(active_->def, daemon_state::ready);
  if (!where || where.value().daemon_of_rank.size() <= active_->trainers())
    return;
  active_->grows = true;
  run_log()->info("run {}: has {}, and there is room for {}: it takes them "
                  "in at the next edge of an epoch",
                  active_->id, pluralized(active_->trainers(), "trainer"),
                  where.value().daemon_of_rank.size());
  post(active_->conductor, pause_run{});
}

// -- from one attempt to the next

/// The attempt that is on has ended in order.
void coordinator::pause(training_state state) {
  active_->from = std::move(state);
  active_->paused = true;
  go_on(active_->turn.paused(fail(
    ec::unavailable, "it pauses to go on with another number of trainers")));
}

/// Its shares have ended, too.
void coordinator::go_on_paused() {
  const auto& at = active_->from->at;
  const auto says = fmt::format(
    "attempt {} has paused after {} and {} of the next one", active_->attempt,
    pluralized(at.epoch, "epoch"), pluralized(at.step, "step"));
  run_log()->info("run {}: {}", active_->id, says);
  active_->file->note(says);
  // Nothing begins in its place meanwhile.
  active_->recovery.paused(*active_->turn.failure(), {at.epoch, at.step},
                           clock::now());
  attempt_later(std::nullopt);
}

/// It has turned out where the next attempt begins: `trainer.sizes` may have
/// another number of trainers there than those that were placed.
/// @returns false if there is no room for them.
bool coordinator::place_anew() {
  const auto size = size_at(active_->def, active_->point());
  if (!size || *size == active_->trainers())
    return true;
  auto where = place_now(active_->wanted());
  if (!where) {
    go_on(
      active_->fail_run(fail(ec::unavailable, "{}", where.error().message)));
    return false;
  }
  take_seats(std::move(where).value());
  return true;
}

/// Until the summary of the run is there, its sizes stand for it.
void coordinator::tell_sizes() {
  const auto& sizes = active_->file->sizes();
  if (sizes.empty())
    return;
  active_->record.summary = nlohmann::json{{"sizes", sizes_json(sizes)}}.dump();
  note(active_->record);
}

} // namespace graphmill
