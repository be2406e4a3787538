#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/words/enumerated.hpp"

#include <algorithm>
#include <utility>

// How a run leaves the queue.

namespace graphmill {

/// The queue as it stands: what is on takes slots, and what waits for its next
/// attempt has its place among that.
queue_pass coordinator::pass_over_queue() const {
  queue_pass out{registry_.offers(), config_.graph->part_count(),
                 config_.runs_at_once};
  for (const auto& run : active_.all())
    out.add(run->where);
  for (const auto& run : queue_)
    if (run.awaits_attempt())
      out.add_waiting();
  return out;
}

/// What the queue leaves is for runs that are on: who has paused to go on with
/// others, or waits for its next attempt, has its slots before they grow.
void coordinator::start_next() {
  if (ending_)
    return;
  start_from_queue();
  grow();
}

/// Begins what can be carried out now, one after the other: the history has to
/// know of each before the next one. The others wait.
void coordinator::start_from_queue() {
  if (queue_.empty())
    return;
  auto pass = pass_over_queue();
  if (pass.is_full() && !queue_.front().awaits_attempt()) {
    wait_for_place();
    return;
  }
  // A run whose end cannot be written down would not be the last one to fail.
  if (!records_.all_written()) {
    if (records_.failure())
      for (auto& run : queue_)
        wait_on(run, *records_.failure());
    return; // It goes on when that is written.
  }
  if (clock::now() < start_at_)
    return;
  for (auto it = queue_.begin(); it != queue_.end(); ++it)
    if (begin_next(pass, it))
      return;
}

/// Begins a run of the queue if it may begin now.
/// @returns whether it has, or nothing behind it may.
bool coordinator::begin_next(queue_pass& pass,
                             std::deque<submitted_run>::iterator next) {
  auto& run = *next;
  // Nothing begins in its place while it is to come back.
  const auto waits = run.awaits_attempt();
  if (!waits && pass.is_full()) {
    wait_for_place();
    return true; // Those that have a place stand before it.
  }
  const auto wanted = wanted_of(run);
  // Another coordinator may have had more of them on.
  if (active_.size() >= config_.runs_at_once) {
    wait_on(run, without_place(), true);
    pass.keep_turn(wanted);
    return false;
  }
  if (clock::now() < run.not_before || awaits_daemons(run)) {
    pass.keep_turn(wanted);
    return false;
  }
  auto where = pass.place(wanted, waits);
  if (!where) {
    const auto lacks_slots = pass.waits_for_slots(wanted, waits);
    wait_on(run, lacks_slots ? without_slots() : place_now(wanted).error(),
            lacks_slots);
    if (waits || lacks_slots)
      pass.keep_turn(wanted);
    return false;
  }
  if (awaits_trainers(run, where.value())) {
    pass.keep_turn(wanted);
    return false;
  }
  auto begins = std::move(run);
  queue_.erase(next);
  begin(std::move(begins), std::move(where).value());
  return true;
}

void coordinator::begin(submitted_run next, placement where) {
  const auto run = std::make_shared<active_run>();
  static_cast<submitted_run&>(*run) = std::move(next);
  run->returning.clear();
  run->record.state = run_state::running;
  run->record.message.clear();
  if (run->record.started == unix_time{0})
    run->record.started = now_unix();
  run->is_unwritten = true;
  active_.add(run);
  take_seats(run, std::move(where));
}

/// Begins attempts that have left the queue once the history has them: another
/// coordinator never gives their numbers to attempts that daemons know already.
void coordinator::begin_if_written() {
  if (!records_.all_written())
    return;
  for (const auto& run : active_.all()) {
    if (!std::exchange(run->is_unwritten, false)
        || run->turn.is_over()) // It was cancelled, or has lost a daemon.
      continue;
    if (run->attempt > 1) {
      attempt_again(run);
    } else if (auto begun = run->file->begin(outlets_of(run->id)); begun) {
      run->file->note_size(run->def, {run->point(), run->trainers()});
      tell_sizes(run);
      deploy(run);
    } else {
      go_on(run, run->fail_run(begun.error()));
    }
  }
}

/// Where a run that is on will be, from now on.
void coordinator::take_seats(const run_ptr& run, placement where) {
  run->where = std::move(where);
  auto names = names_of(run->where);
  run->turn = run_turn{names, run->recovery.is_wanted()};
  run->health.begin(run->id, {names.begin(), names.end()}, run->attempt,
                    run->trainers());
  for (const auto trains : run->where.daemon_of_rank)
    run->holders.insert(run->where.daemons[trains].name);
  names.insert(run->holders.begin(), run->holders.end());
  names.erase(calls_.net().self().name); // The next one has its own.
  note_standing(*run, {names.begin(), names.end()});
}

/// Daemons may come, or come back.
/// @param held_up It lacks nothing but what other runs have.
void coordinator::wait_on(submitted_run& run, const error& reason,
                          bool held_up) {
  auto says = !run.recovery.waits() ? "waits: " + reason.message
              : held_up             ? run.recovery.says_held_up(reason)
                                    : run.recovery.says(reason, clock::now(),
                                                        std::chrono::system_clock::now());
  if (run.record.message == says)
    return;
  log_of(run.id)->info("run {} {}", run.id, says);
  run.record.message = std::move(says);
  note(run.record);
}

/// As many runs are on as may be: those of the queue that were told what they
/// wait for wait for that no more.
void coordinator::wait_for_place() {
  for (auto& run : queue_)
    if (!run.awaits_attempt() && !run.record.message.empty())
      wait_on(run, without_place());
}

/// Runs wait for moments, too.
void coordinator::look_at_queue(clock::time_point now) {
  auto is_due = false;
  const auto has_come = [&is_due, now](clock::time_point& when) {
    if (when == clock::time_point{} || now < when)
      return;
    when = {};
    is_due = true;
  };
  has_come(start_at_);
  for (auto& run : queue_) {
    has_come(run.not_before);
    has_come(run.shrink_at);
    is_due = is_due || (!run.returning.empty() && now >= run.return_until);
  }
  if (is_due)
    start_next();
}

// -- slots

/// Of daemons in service, without the slots that runs take.
/// @param but Its own count as free; null: of none.
std::vector<daemon_offer>
coordinator::free_offers(const active_run* but) const {
  auto out = registry_.offers();
  for (const auto& run : active_.all())
    if (run.get() != but)
      take_slots(out, run->where);
  return out;
}

/// Where a run that is on could go anew, beside the others.
result<placement> coordinator::place_beside(const definition& def,
                                            const active_run* but) const {
  return place(def, config_.graph->part_count(), free_offers(but));
}

/// The definition by which a run is placed. While another one waits for its
/// next attempt, too, a run whose number of trainers is open gets no more than
/// it had: the other slots were the other one's.
definition coordinator::wanted_of(const submitted_run& run) const {
  auto out = run.wanted();
  const auto is_other = [&run](const submitted_run& other) {
    return other.id != run.id && other.awaits_attempt();
  };
  auto& trainer = out.trainer;
  const auto& had = run.file->sizes();
  if (run.awaits_attempt() && trainer.is_open() && !had.empty()
      && std::ranges::any_of(queue_, is_other))
    trainer.replicas =
      std::clamp(had.back().replicas, trainer.min_replicas, trainer.replicas);
  return out;
}

error coordinator::without_place() const {
  return fail(ec::unavailable,
              "as many runs are on as may be at a time, {} (--runs-at-once)",
              config_.runs_at_once);
}

error coordinator::without_slots() const {
  std::vector<std::string> others;
  for (const auto& run : active_.all())
    others.push_back(run->id);
  return fail(ec::unavailable,
              "the slots that it needs are taken{}{}, or kept for runs that "
              "come before it",
              others.empty() ? "" : " by ", enumerated(others));
}

/// The runs of which a daemon keeps what it has when a share of this one is
/// deployed there: those that are on or wait for their next attempt.
std::vector<std::string>
coordinator::names_beside(const active_run& run) const {
  // Of one that is filed the shares have ended, and nothing is kept, unless
  // what is kept is being fetched.
  const auto is_over = [](const active_run& other) {
    return other.turn.now() == run_turn::state::filing && !other.turn.again();
  };
  std::vector<std::string> out;
  for (const auto& other : active_.all())
    if (other.get() != &run && !is_over(*other))
      out.push_back(other->id);
  for (const auto& other : queue_)
    if (other.awaits_attempt())
      out.push_back(other.id);
  // There are more if another coordinator had more on: those that wait go on
  // from checkpoints, then.
  out.resize(std::min<std::size_t>(out.size(), config_.runs_at_once - 1));
  return out;
}

} // namespace graphmill
