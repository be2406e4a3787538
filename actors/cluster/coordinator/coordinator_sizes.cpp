#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/base/pluralized.hpp"

#include <nlohmann/json.hpp>

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
void coordinator::wait_for_trainers(const active_run& before,
                                    submitted_run& run) {
  run.trainers_before = 0;
  run.shrink_at = {};
  if (before.paused || !run.def.trainer.is_open())
    return;
  run.trainers_before = before.trainers();
  // It is not to give up before.
  const auto now = clock::now();
  run.shrink_at = now
                  + std::min<clock::duration>(timeouts::trainer_returns,
                                              run.recovery.left_at(now) / 2);
}

/// Whether a run that could be placed waits for more trainers still.
bool coordinator::awaits_trainers(submitted_run& run, const placement& where) {
  const auto found = where.daemon_of_rank.size();
  if (found >= run.trainers_before || clock::now() >= run.shrink_at)
    return false;
  wait_on(run, fail(ec::unavailable,
                    "there is room for {}, and it had {}; it goes on with "
                    "fewer if nobody comes within seconds",
                    pluralized(found, "trainer"), run.trainers_before));
  return true;
}

// -- more

/// Has runs that are on pause at the next edge of an epoch if more trainers
/// could be placed now. So it does not happen more than once in an epoch. Slots
/// that a run of the queue is about to take, or waits for, are not taken from
/// it, nor is anything while a run is between two attempts: what is free then
/// may be its own.
void coordinator::grow() {
  const auto may_grow = [](const run_ptr& run) {
    return !run->grows && run->conductor
           && run->turn.now() == run_turn::state::conducting
           && !run->turn.cancelled() && run->def.trainer.is_open();
  };
  auto runs = active_.all();
  std::erase_if(runs, [&](const auto& run) { return !may_grow(run); });
  if (ending_ || runs.empty())
    return;
  const auto pass = pass_over_queue();
  const auto wants_slots = [&pass](const submitted_run& run) {
    return pass.place(run.wanted()) || pass.waits_for_slots(run.wanted());
  };
  if (std::ranges::any_of(queue_, [&](const submitted_run& run) {
        return run.awaits_attempt() || (!pass.is_full() && wants_slots(run));
      }))
    return;
  for (const auto& run : runs) {
    const auto where = place_beside(run->def, run.get());
    if (!where || where.value().daemon_of_rank.size() <= run->trainers())
      continue;
    run->grows = true;
    log_of(run->id)->info(
      "run {}: has {}, and there is room for {}: it takes them in at the next "
      "edge of an epoch",
      run->id, pluralized(run->trainers(), "trainer"),
      where.value().daemon_of_rank.size());
    post(run->conductor, pause_run{});
  }
}

// -- from one attempt to the next

/// The attempt that is on has ended in order.
void coordinator::pause(const run_ptr& run, training_state state) {
  run->from = std::move(state);
  run->paused = true;
  go_on(run, run->turn.paused(
               fail(ec::unavailable,
                    "it pauses to go on with another number of trainers")));
}

/// Its shares have ended, too.
void coordinator::go_on_paused(const run_ptr& run) {
  const auto& at = run->from->at;
  const auto says = fmt::format(
    "attempt {} has paused after {} and {} of the next one", run->attempt,
    pluralized(at.epoch, "epoch"), pluralized(at.step, "step"));
  log_of(run->id)->info("run {}: {}", run->id, says);
  run->file->note(says);
  // Nothing begins in its place meanwhile.
  run->recovery.paused(*run->turn.failure(), {at.epoch, at.step}, clock::now());
  attempt_later(run, std::nullopt);
}

/// It has turned out where the next attempt begins: `trainer.sizes` may have
/// another number of trainers there than those that were placed.
/// @returns false if there is no room for them.
bool coordinator::place_anew(const run_ptr& run) {
  const auto size = size_at(run->def, run->point());
  if (!size || *size == run->trainers())
    return true;
  auto where = place_beside(run->wanted(), run.get());
  if (!where) {
    go_on(run,
          run->fail_run(fail(ec::unavailable, "{}", where.error().message)));
    return false;
  }
  take_seats(run, std::move(where).value());
  return true;
}

/// Until the summary of the run is there, its sizes stand for it.
void coordinator::tell_sizes(const run_ptr& run) {
  const auto& sizes = run->file->sizes();
  if (sizes.empty())
    return;
  run->record.summary = nlohmann::json{{"sizes", sizes_json(sizes)}}.dump();
  note(run->record);
}

} // namespace graphmill
