#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/enumerated.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace graphmill {

std::string place_name(const course_position& at) {
  return fmt::format("epoch {}, step {}", at.epoch + 1, at.step + 1);
}

// -- a run that does without a daemon

/// A daemon of the run is gone. Tells that the run goes on, if it can do
/// without it.
/// @returns whether it does.
bool coordinator::go_on_without(const run_ptr& run, const std::string& daemon,
                                const error& reason) {
  const auto& turn = run->turn;
  if (turn.does_without(daemon))
    return true;
  const auto decided =
    turn.now() == run_turn::state::filing || turn.failure().has_value();
  if (decided || !run->can_do_without(daemon))
    return false;
  run->losses.push_back(
    fmt::format("went on without daemon \"{}\", whose parts others serve: {}",
                daemon, reason.message));
  log_of(run->id)->warn("run {} {}", run->id, run->losses.back());
  tell(event_kind::recovered, daemon, run->losses.back(), run->id);
  run->record.message = fmt::format("{}", fmt::join(run->losses, "; "));
  note(run->record);
  go_on(run, run->turn.do_without(daemon));
  return true;
}

// -- the end of an attempt

/// All shares of an attempt that has lost a daemon have ended: what its
/// trainers had is fetched, and then the run waits for its next attempt. @pre
/// its conductor has ended, which uses the run's files
void coordinator::recover(const run_ptr& run) {
  auto& turn = run->turn;
  const auto reason = *turn.failure();
  if (run->paused) {
    go_on_paused(run);
    return;
  }
  if (auto last = run->recovery.broken(reason, run->reached, clock::now())) {
    turn.give_up(*std::move(last));
    close(run);
    return;
  }
  auto says =
    fmt::format("attempt {} has ended: {}", run->attempt, reason.message);
  log_of(run->id)->warn("run {}: {}", run->id, says);
  tell(event_kind::warning, {}, says, run->id);
  run->file->note(says);
  search_kept(run,
              [this](const run_ptr& on, std::optional<training_state> found) {
                attempt_later(on, std::move(found));
              });
}

/// Puts the run back into the queue, before those that have not begun.
void coordinator::attempt_later(const run_ptr& run,
                                std::optional<training_state> found) {
  if (!run->turn.again()) { // It was cancelled meanwhile.
    close(run);
    return;
  }
  let_leavers_go();
  const auto* why = run->paused ? ", with other trainers" : "";
  auto next = std::move(static_cast<submitted_run&>(*run));
  if (found)
    next.from = std::move(found);
  next.spent = run->seconds;
  wait_for_trainers(*run, next);
  ++next.attempt;
  next.record.state = run_state::queued;
  next.record.ended = {};
  active_.remove(run);
  // A daemon that fails again and again is not deployed on without a pause.
  if (const auto pause = next.recovery.pause(); pause.count() != 0)
    next.not_before = clock::now() + pause;
  next.record.message =
    fmt::format("waits for attempt {}{}", next.attempt, why);
  take_place(std::move(next));
  start_next();
}

/// Among runs that wait for their next attempt the order of the queue is kept.
void coordinator::take_place(submitted_run run) {
  const auto fresh = std::ranges::find_if(
    queue_, [](const auto& other) { return !other.awaits_attempt(); });
  if (fresh != queue_.end())
    run.place = std::min(run.place, fresh->place - 1);
  note_standing(run, run.holders_but(calls_.net().self().name));
  const auto behind =
    std::find_if(queue_.begin(), fresh,
                 [&run](const auto& other) { return other.place > run.place; });
  queue_.insert(behind, std::move(run));
}

// -- the begin of the next one

/// The run has been placed. Daemons that were out of reach may have its state.
void coordinator::attempt_again(const run_ptr& run) {
  run->recovery.begin();
  if (run->from) {
    rewind(run);
    return;
  }
  search_kept(run,
              [this](const run_ptr& on, std::optional<training_state> found) {
                on->from = std::move(found);
                if (!on->turn.is_over())
                  rewind(on);
              });
}

void coordinator::rewind(const run_ptr& run) {
  run->last_begun = run->attempt; // Its folder notes its trainers.
  const auto tell = [me = handle_of<interface>(self_), id = run->id,
                     attempt = run->attempt](result<run_rewound::state> how) {
    post(me, run_rewound{
               id, attempt,
               std::make_shared<result<run_rewound::state>>(std::move(how))});
  };
  thread_.post(
    [tell, lock = config_.lock, file = run->file, from = run->from,
     def = run->def, attempt = run->attempt,
     spent = std::exchange(run->spent, 0), trainers = run->trainers(),
     outlets = outlets_of(run->id), resumed = !run->from_run.empty()] {
      if (auto held = lock->check(); !held) // The folder is another one's.
        tell(held.error());
      else
        tell(file->go_back(from, def,
                           {attempt, spent, trainers, outlets, resumed}));
    },
    [tell](const error& reason) { tell(reason); });
}

void coordinator::on_rewound(const run_rewound& back) {
  const auto run = active_.find(back.run, back.attempt);
  if (!run || run->turn.now() != run_turn::state::deploying)
    return;
  if (!*back.from) {
    if (gives_way(back.from->error()))
      return;
    auto reason = back.from->error();
    if (reason.code == ec::no_space) // There may be room at the next attempt.
      reason.code = ec::unavailable;
    go_on(run, run->fail_run(std::move(reason)));
    return;
  }
  run->from = std::move(*back.from).value();
  recall_news(*run);
  if (!place_anew(run))
    return;
  std::vector<std::string> names;
  for (const auto& daemon : run->where.daemons)
    names.push_back(daemon.name);
  const auto says =
    fmt::format("attempt {} goes on from {}; daemons {}", run->attempt,
                run->from ? place_name(run->from->at) : "the beginning",
                enumerated(names))
    + (run->def.trainer.is_elastic()
         ? fmt::format("; {}", pluralized(run->trainers(), "trainer"))
         : std::string{});
  log_of(run->id)->info("run {}: {}", run->id, says);
  tell(event_kind::recovered, {}, says, run->id);
  run->file->note(says);
  run->record.message = says;
  tell_sizes(run);
  note(run->record);
  deploy(run);
}

/// Of a run that another coordinator has begun: who begins to watch it sees the
/// epochs before, too.
void coordinator::recall_news(const active_run& run) {
  std::vector<run_news> before;
  const auto epochs = run.from ? run.from->at.epoch : 0;
  for (const auto& line : run.file->reporter().lines_of(epochs))
    before.push_back({.metrics = line.dump()});
  board_.recall(run.id, std::move(before));
}

// -- a run that waits for too long

/// Not before those that it was on have had the time to come back, and not for
/// what other runs have.
void coordinator::give_up_waiting(clock::time_point now) {
  for (auto& run : queue_)
    if (run.recovery.waits()
        && (active_.size() >= config_.runs_at_once
            || pass_over_queue().waits_for_slots(wanted_of(run), true)))
      run.recovery.renew(now);
  const auto late = std::ranges::find_if(queue_, [now](const auto& run) {
    return run.recovery.is_over(now)
           && (run.returning.empty() || now >= run.return_until);
  });
  if (late == queue_.end())
    return; // The next one is seen to at the next look.
  auto run = std::move(*late);
  queue_.erase(late);
  const auto wanted = run.wanted();
  const auto where = place_now(wanted);
  const auto reason = run.recovery.gave_up(
    where
      ? fail(ec::unavailable, "its daemons are there, but it could not begin")
      : where.error());
  conclude(std::move(run), reason, false);
}

/// Files a run that is not on, with what it has left.
void coordinator::conclude(submitted_run ends, const error& reason,
                           bool cancelled) {
  const auto run = std::make_shared<active_run>();
  static_cast<submitted_run&>(*run) = std::move(ends);
  run->record.state = run_state::running;
  run->recovery.begin();
  if (run->from)
    run->outcome.train_steps = run->from->at.train_steps;
  run->health.begin(run->id, {}, run->attempt, 0);
  active_.add(run);
  go_on(run, cancelled ? run->cancel(true) : run->fail_run(reason));
}

} // namespace graphmill
