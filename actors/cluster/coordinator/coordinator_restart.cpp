#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/history/stand_ins.hpp"
#include "messages/words/enumerated.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

// How one coordinator follows another: what it finds, and how the old one ends.

namespace graphmill {

/// Takes up what the coordinator before this one has left: runs that were on go
/// to the front of the queue, in their order, for another attempt. Reads files
/// of runs, so it may take a while, in which nobody waits for this actor: it is
/// being made.
void coordinator::restore() {
  auto front = std::int64_t{0};
  auto open = config_.history->take_open_runs();
  for (const auto& left : open) {
    front = std::min(front, left.standing.place);
    next_place_ = std::max(next_place_, left.standing.place + 1);
  }
  front -= std::ranges::count_if(open, &open_run::was_on);
  for (auto& left : open) {
    const auto was_on = left.was_on();
    submitted_run run;
    run.attempt = left.next_attempt();
    run.last_begun = std::max(1U, run.attempt - 1);
    run.id = left.record.id;
    run.record = std::move(left.record);
    run.home = std::move(left.standing.home);
    run.from_run = std::move(left.standing.from_run);
    run.from_checkpoint = std::move(left.standing.checkpoint);
    run.place = was_on ? front++ : left.standing.place;
    if (run.attempt > 1) {
      run.holders.insert(left.standing.daemons.begin(),
                         left.standing.daemons.end());
      run.holders.insert(calls_.net().self().name);
    }
    records_.add(run.record);
    if (auto restored = restore(run, left.definition); !restored) {
      run.record.state = run_state::failed;
      run.record.message =
        fmt::format("the coordinator was started anew and cannot go on with "
                    "it: {}",
                    restored.error().message);
      run.record.ended = now_unix();
      log_of(run.id)->warn("run {}: {}", run.id, run.record.message);
      note(run.record);
      continue;
    }
    if (was_on) {
      run.returning.insert(calls_.net().self().name);
      run.returning.insert(left.standing.daemons.begin(),
                           left.standing.daemons.end());
      run.return_until = clock::now() + timeouts::daemons_return;
      run.record.state = run_state::queued;
      run.record.ended = {};
      run.record.message =
        fmt::format("waits for attempt {}, as the coordinator was started anew",
                    run.attempt);
      log_of(run.id)->info("run {}: {}", run.id, run.record.message);
      note_standing(run, run.holders_but(calls_.net().self().name));
    } else {
      log_of(run.id)->info("run {} is queued still", run.id);
    }
    queue_.push_back(std::move(run));
  }
}

/// Brings a run back to where it stood in the queue. One that was on goes on
/// with its next attempt as if it had lost a daemon.
result<void> coordinator::restore(submitted_run& run,
                                  const std::string& yaml) const {
  auto source = parse_record(yaml);
  if (!source.problems.empty())
    return to_error(source.problems);
  run.def = std::move(source.value);
  GRAPHMILL_TRYV(check(run.def));
  GRAPHMILL_TRY(run.file, run_file::reopen(config_.runs, run.id));
  run.view = learnt_view{config_.graph};
  if (trains_nothing(run.def)) { // Its folder has what its weights have learnt.
    GRAPHMILL_TRY(run.view, view_by(run.def, run.file->learnt(), config_.graph,
                                    config_.data));
  }
  GRAPHMILL_TRYV(check_view(run));
  run.recovery = run_recovery{run.def.recovery};
  if (run.attempt > 1) {
    if (run.recovery.is_wanted())
      run.recovery.left(
        fail(ec::unavailable, "the coordinator was started anew"),
        clock::now());
    GRAPHMILL_TRYV(check_dataset(config_, run.file->dataset_digest()));
    if (run.from_run.empty() || run.file->has_checkpoints())
      return ok(); // From where it goes on is found when it is placed.
  }
  if (run.from_run.empty())
    return run.file->begin_anew(run.def);
  GRAPHMILL_TRY(
    auto before,
    checkpoint_of(config_.runs, {run.from_run, run.from_checkpoint}));
  GRAPHMILL_TRYV(check_dataset(config_, before.dataset_digest));
  GRAPHMILL_TRYV(run.file->go_on_from(before, run.def));
  run.from = std::move(before.state);
  run.resumed_place = resumed_;
  return ok();
}

/// Whether a run waits for daemons that it was on: the others would do, but
/// have to fill their caches anew, and nothing overtakes it.
bool coordinator::awaits_daemons(submitted_run& run) {
  if (run.returning.empty() || clock::now() >= run.return_until) {
    run.returning.clear();
    return false;
  }
  wait_on(run, fail(ec::unavailable, "for daemons that it was on: {}",
                    enumerated(run.returning)));
  return true;
}

void coordinator::forget_returning(const std::string& daemon) {
  for (auto& run : queue_)
    run.returning.erase(daemon);
}

/// While this process was stopped, daemons may have come back without being
/// heard: whoever waits for them goes on with that for as much longer.
void coordinator::make_up_for_stop(clock::time_point now) {
  const auto missed = missed_.look(now);
  for (auto& run : queue_) {
    run.recovery.put_off(missed);
    for (auto* until : {&run.return_until, &run.shrink_at})
      if (*until != clock::time_point{})
        *until += missed;
  }
}

/// Another coordinator has the lock by now: this one ends at once and
/// leaves everything as it is, for that is the other one's.
/// @returns whether it is so.
bool coordinator::gives_way(const error& reason) {
  if (reason.code != ec::superseded)
    return false;
  if (std::exchange(superseded_, true))
    return true;
  config_.log->error("{}", reason.message);
  ending_ = true;
  for (const auto& run : active_.all())
    stop_actor(run->conductor);
  if (auto tell = std::exchange(config_.on_stop, {}))
    tell(reason);
  return true;
}

/// Also who waits for the lock, while it looks there.
/// @param busy There are runs.
void coordinator::look_at_lock(bool busy) {
  if (history_thread_.waiting() != 0)
    return;
  history_thread_.post(
    [me = handle_of<interface>(self_), history = config_.history,
     lock = config_.lock, runs = config_.runs, stand_ins = stand_ins_, busy] {
      if (auto held = lock->check(); !held) {
        post(me, records_written{held.error()});
        return;
      }
      if (busy)
        history->touch();
      auto waiting = stand_ins_at(runs);
      const std::lock_guard guard{stand_ins->mutex};
      stand_ins->all.swap(waiting);
    },
    [](const error&) {}); // It looks again soon.
}

/// Asks the daemons of the runs that are on whether they take orders. Another
/// coordinator may have followed this one while its process was stopped, and
/// its runs may have nothing to order for hours. Then the lock decides
/// (`doubt`). Nothing else follows from what they answer, or do not: who is
/// lost is known by its silence.
void coordinator::look_for_successor() {
  const auto& self = calls_.net().self().name;
  if (registry_.nobody_obeys(self)) {
    gives_way(fail(ec::superseded,
                   "all other daemons take orders from another coordinator: "
                   "nobody obeys it any more, and it ends"));
    return;
  }
  const auto ask = [this](const daemon_address& daemon,
                          const member_request& question) {
    ask_daemon(daemon, method::order, encode(question),
               within(timeouts::question, timeouts::question_unreachable),
               [](const result<payload>&) {});
  };
  member_request question;
  question.action = member_action::check;
  auto any = false;
  for (const auto& run : active_.all()) {
    if (run->turn.is_over())
      continue;
    any = true;
    question.run = run->id;
    question.attempt = run->attempt;
    for (const auto& daemon : run->where.daemons)
      ask(daemon, question);
  }
  if (any || !registry_.is_disobeyed())
    return;
  for (const auto& daemon : registry_.statuses()) // By one: by all?
    if (daemon.name != self)
      ask({daemon.name, daemon.address}, question);
}

} // namespace graphmill
