#include "actors/cluster/coordinator/leading/run_starter.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/enumerated.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

run_starter::run_starter(const leading_parts& with, run_queue& queue,
                         const run_places& places, hooks tell)
  : with_(with), queue_(queue), places_(places), tell_(std::move(tell)) {
  // nop
}

/// The queue as it stands: what is on takes slots, and what waits for its next
/// attempt has its place among that.
queue_pass run_starter::pass() const {
  queue_pass out{with_.daemons.registry().offers(), places_.parts(),
                 with_.config.runs_at_once};
  for (const auto& run : with_.active.all())
    if (!run->is_feed()) // It takes no slots.
      out.add(run->on.where);
  for (const auto& run : queue_.all())
    if (run->awaits_attempt())
      out.add_waiting();
  return out;
}

/// A run that has paused to go on with others, or waits for its next attempt,
/// has its slots before others grow.
void run_starter::start() {
  if (is_closed_)
    return;
  if (!start_feed())
    start_queue();
  grow();
}

/// How many runs are on, without feeds.
std::size_t run_starter::trained_at_once() const {
  const auto runs = with_.active.all();
  return static_cast<std::size_t>(std::ranges::count_if(
    runs, [](const auto& run) { return !run->is_feed(); }));
}

/// Feeds take no slots, and so wait for nobody but the daemons that they need.
/// @returns whether one has begun: the history has to know of it before the
/// next one.
bool run_starter::start_feed() {
  if (!with_.archive.all_written() || clock::now() < start_at_)
    return false;
  const auto on = with_.active.size() - trained_at_once();
  const auto runs = queue_.all();
  for (const auto& run : runs) {
    if (!run->is_feed())
      continue;
    if (on >= deployment::most_feeds_at_once) {
      wait_on(*run,
              fail(ec::unavailable, "{} feeds are on, as many as may be", on));
      continue;
    }
    auto where = places_.of_feed(run->def, run->consumer);
    if (!where) {
      wait_on(*run, where.error());
      continue;
    }
    queue_.take(run->id);
    tell_.begin(run, std::move(where).value());
    return true;
  }
  return false;
}

/// Begins what can be carried out now, one after the other: the history has to
/// know of each before the next one. The others wait.
void run_starter::start_queue() {
  if (queue_.all().empty())
    return;
  auto look = pass();
  const auto first = std::ranges::find_if(
    queue_.all(), [](const auto& run) { return !run->is_feed(); });
  if (first == queue_.all().end())
    return;
  if (look.is_full() && !(*first)->awaits_attempt()) {
    wait_for_place();
    return;
  }
  // A run whose end cannot be written down would not be the last one to fail.
  if (!with_.archive.all_written()) {
    if (const auto failure = with_.archive.failure())
      for (const auto& run : queue_.all())
        wait_on(*run, *failure);
    return; // It goes on when that is written.
  }
  if (clock::now() < start_at_)
    return;
  const auto runs = queue_.all();
  for (const auto& run : runs)
    if (!run->is_feed() && begin_next(look, run))
      return;
}

/// Begins a run of the queue if it may begin now.
/// @returns whether it has, or nothing behind it may.
bool run_starter::begin_next(queue_pass& pass, const run_ptr& run) {
  // Nothing begins in its place while it is to come back.
  const auto waits = run->awaits_attempt();
  if (!waits && pass.is_full()) {
    wait_for_place();
    return true; // Those that have a place stand before it.
  }
  const auto wanted = wanted_of(*run);
  // Another coordinator may have had more of them on.
  if (trained_at_once() >= with_.config.runs_at_once) {
    wait_on(*run, without_place(), true);
    pass.keep_turn(wanted);
    return false;
  }
  if (clock::now() < run->wait.not_before || awaits_daemons(*run)) {
    pass.keep_turn(wanted);
    return false;
  }
  auto where = pass.place(wanted, waits);
  if (!where) {
    const auto lacks_slots = pass.waits_for_slots(wanted, waits);
    wait_on(*run,
            lacks_slots ? places_.without_slots() : places_.now(wanted).error(),
            lacks_slots);
    if (waits || lacks_slots)
      pass.keep_turn(wanted);
    return false;
  }
  if (awaits_trainers(*run, where.value())) {
    pass.keep_turn(wanted);
    return false;
  }
  queue_.take(run->id);
  tell_.begin(run, std::move(where).value());
  return true;
}

/// The definition by which a run is placed. While another one waits for its
/// next attempt, too, a run whose number of trainers is open gets no more than
/// it had: the other slots were the other one's.
definition run_starter::wanted_of(const submitted_run& run) const {
  auto out = run.wanted();
  auto& trainer = out.trainer;
  const auto& had = run.file->sizes();
  if (run.awaits_attempt() && trainer.is_open() && !had.empty()
      && queue_.has_waiting_beside(run))
    trainer.replicas =
      std::clamp(had.back().replicas, trainer.min_replicas, trainer.replicas);
  return out;
}

// -- what runs wait for

/// Whether a run waits for daemons that it was on: the others would do, but
/// have to fill their caches anew, and nothing overtakes it.
bool run_starter::awaits_daemons(submitted_run& run) {
  auto& returning = run.wait.returning;
  if (returning.empty() || clock::now() >= run.wait.return_until) {
    returning.clear();
    return false;
  }
  wait_on(run, fail(ec::unavailable, "for daemons that it was on: {}",
                    enumerated(returning)));
  return true;
}

/// Whether a run that could be placed waits for more trainers still.
bool run_starter::awaits_trainers(submitted_run& run, const placement& where) {
  const auto found = where.daemon_of_rank.size();
  if (found >= run.wait.trainers_before || clock::now() >= run.wait.shrink_at)
    return false;
  wait_on(run, fail(ec::unavailable,
                    "there is room for {}, and it had {}; it goes on with "
                    "fewer if nobody comes within seconds",
                    pluralized(found, "trainer"), run.wait.trainers_before));
  return true;
}

/// Daemons may come, or come back.
/// @param held_up It lacks nothing but what other runs have.
void run_starter::wait_on(submitted_run& run, const error& reason,
                          bool held_up) {
  auto says = run.life.now() != attempt::state::waiting
                ? "waits: " + reason.message
              : held_up ? run.recovery.says_held_up(reason)
                        : run.recovery.says(reason, clock::now(),
                                            std::chrono::system_clock::now());
  if (run.record.message == says)
    return;
  with_.notices.log_of(run.id)->info("run {} {}", run.id, says);
  run.record.message = std::move(says);
  with_.archive.note(run.record);
}

/// As many runs are on as may be: those of the queue that were told what they
/// wait for wait for that no more.
void run_starter::wait_for_place() {
  for (const auto& run : queue_.all())
    if (!run->is_feed() && !run->awaits_attempt()
        && !run->record.message.empty())
      wait_on(*run, without_place());
}

error run_starter::without_place() const {
  return fail(ec::unavailable,
              "as many runs are on as may be at a time, {} (--runs-at-once)",
              with_.config.runs_at_once);
}

// -- moments

void run_starter::put_off() {
  start_at_ = clock::now() + timeouts::after_failure;
}

void run_starter::look(clock::time_point now) {
  queue_.put_off(missed_.look(now));
  if (is_due(now))
    start();
  give_up_waiting(now);
}

/// Whether a moment has come that somebody waited for.
bool run_starter::is_due(clock::time_point now) {
  auto out = false;
  const auto has_come = [&out, now](clock::time_point& when) {
    if (when == clock::time_point{} || now < when)
      return;
    when = {};
    out = true;
  };
  has_come(start_at_);
  for (const auto& run : queue_.all()) {
    auto& wait = run->wait;
    has_come(wait.not_before);
    has_come(wait.shrink_at);
    out = out || (!wait.returning.empty() && now >= wait.return_until);
  }
  return out;
}

/// Not before those that it was on have had the time to come back, and not for
/// what other runs have.
void run_starter::give_up_waiting(clock::time_point now) {
  const auto waits = [](const run_ptr& run) {
    return run->life.now() == attempt::state::waiting;
  };
  for (const auto& run : queue_.all())
    if (waits(run)
        && (trained_at_once() >= with_.config.runs_at_once
            || pass().waits_for_slots(wanted_of(*run), true)))
      run->recovery.renew(now);
  const auto late = std::ranges::find_if(queue_.all(), [&](const auto& run) {
    return waits(run) && run->recovery.is_over(now)
           && (run->wait.returning.empty() || now >= run->wait.return_until);
  });
  if (late == queue_.all().end())
    return; // The next one is seen to at the next look.
  const auto run = queue_.take((*late)->id);
  const auto where = places_.now(run->wanted());
  tell_.give_up(run,
                run->recovery.gave_up(
                  where ? fail(ec::unavailable, "its daemons are there, but it "
                                                "could not begin")
                        : where.error()));
}

// -- runs that are on

/// Slots that a run of the queue is about to take, or waits for, are not taken
/// from it, nor is anything while a run is between two attempts: what is free
/// then may be its own.
bool run_starter::may_grow_beside_queue() const {
  const auto look = pass();
  return std::ranges::none_of(queue_.all(), [&look](const auto& run) {
    return !run->is_feed()
           && (run->awaits_attempt()
               || (!look.is_full()
                   && (look.place(run->wanted())
                       || look.waits_for_slots(run->wanted()))));
  });
}

void run_starter::grow() {
  auto runs = with_.active.all();
  std::erase_if(runs, [](const run_ptr& run) {
    return !run->life.may_pause() || !run->on.conductor
           || !run->def.trainer.is_open();
  });
  if (is_closed_ || runs.empty() || !may_grow_beside_queue())
    return;
  for (const auto& run : runs) {
    const auto where = places_.beside(run->def, *run);
    if (!where || where.value().daemon_of_rank.size() <= run->trainers())
      continue;
    run->life.told_to_pause();
    with_.notices.log_of(run->id)->info(
      "run {}: has {}, and there is room for {}: it takes them in at the next "
      "edge of an epoch",
      run->id, pluralized(run->trainers(), "trainer"),
      where.value().daemon_of_rank.size());
    run->on.conductor->pause();
  }
}

std::vector<std::string>
run_starter::names_beside(const submitted_run& run) const {
  // Of one that is filed the shares have ended, and nothing is kept, unless
  // what is kept is being fetched.
  const auto is_over = [](const attempt& life) {
    return life.is_closed() && !life.again();
  };
  std::vector<std::string> out;
  for (const auto& other : with_.active.all())
    if (other.get() != &run && !is_over(other->life))
      out.push_back(other->id);
  for (const auto& other : queue_.all())
    if (other->awaits_attempt())
      out.push_back(other->id);
  // There are more if another coordinator had more on: those that wait go on
  // from checkpoints, then.
  out.resize(
    std::min<std::size_t>(out.size(), with_.config.runs_at_once
                                        + deployment::most_feeds_at_once - 1));
  return out;
}

} // namespace graphmill
