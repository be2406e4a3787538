#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"

#include <utility>

// How a run leaves the queue.

namespace graphmill {

/// The first that can be carried out now; the others wait.
void coordinator::start_next() {
  grow();
  if (active_ || ending_)
    return;
  // A run whose end cannot be written down would not be the last one to fail.
  if (!records_.all_written()) {
    if (records_.failure())
      for (auto& run : queue_)
        wait_on(run, *records_.failure());
    return; // It goes on when that is written.
  }
  if (clock::now() < start_at_ || awaits_daemons())
    return;
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    auto where = place_now(it->wanted());
    if (!where) {
      wait_on(*it, where.error());
      if (it->recovery.waits())
        return; // Nothing begins in its place while it is to come back.
      continue;
    }
    if (awaits_trainers(*it, where.value()))
      return;
    active_.emplace();
    static_cast<submitted_run&>(*active_) = std::move(*it);
    queue_.erase(it);
    active_->record.state = run_state::running;
    active_->record.message.clear();
    if (active_->record.started == unix_time{0})
      active_->record.started = now_unix();
    active_->is_unwritten = true;
    take_seats(std::move(where).value());
    return;
  }
}

/// Begins the attempt that has left the queue once the history has it: another
/// coordinator never gives its number to an attempt that daemons know already.
void coordinator::begin_if_written() {
  if (!active_ || !records_.all_written()
      || !std::exchange(active_->is_unwritten, false)
      || active_->turn.is_over()) // It was cancelled, or has lost a daemon.
    return;
  if (active_->attempt > 1) {
    attempt_again();
  } else if (auto begun = active_->file->begin(run_outlets()); begun) {
    active_->file->note_size(active_->def,
                             {active_->point(), active_->trainers()});
    tell_sizes();
    deploy();
  } else {
    go_on(active_->fail_run(begun.error()));
  }
}

/// Where the run that is on will be, from now on.
void coordinator::take_seats(placement where) {
  active_->where = std::move(where);
  auto names = names_of(active_->where);
  active_->turn = run_turn{names, active_->recovery.is_wanted()};
  health_.begin(active_->id, {names.begin(), names.end()}, active_->attempt,
                active_->trainers());
  for (const auto trains : active_->where.daemon_of_rank)
    active_->holders.insert(active_->where.daemons[trains].name);
  names.insert(active_->holders.begin(), active_->holders.end());
  names.erase(calls_.net().self().name); // The next one has its own.
  note_standing(*active_, {names.begin(), names.end()});
}

/// Daemons may come, or come back.
void coordinator::wait_on(submitted_run& run, const error& reason) {
  auto says = run.recovery.waits() ? run.recovery.says(
                reason, clock::now(), std::chrono::system_clock::now())
                                   : "waits: " + reason.message;
  if (run.record.message == says)
    return;
  log_of(run.id)->info("run {} {}", run.id, says);
  run.record.message = std::move(says);
  note(run.record);
}

} // namespace graphmill
