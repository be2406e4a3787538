#include "actors/cluster/coordinator/leading/run_leader.hpp"

#include "actors/cluster/coordinator/leading/kept_search.hpp"
#include "actors/cluster/coordinator/leading/new_run.hpp"
#include "actors/cluster/coordinator/leading/run_places.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/records/run_watchers.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/run_events.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "messages/base/caught.hpp"
#include "messages/base/unix_time.hpp"
#include "partition/dataset/shard.hpp"

#include <fmt/ranges.h>
#include <spdlog/logger.h>

#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Whether a run that failed could go on later, if somebody had come or there
/// was room on the disk.
bool can_be_resumed(const std::optional<error>& failure) {
  return failure
         && (failure->code == ec::unavailable || failure->code == ec::timeout
             || failure->code == ec::no_space || failure->code == ec::permission
             || failure->code == ec::io);
}

/// Whether a task is the RUN LEADER's own: others do the rest.
bool is_own(attempt::task next) {
  using task = attempt::task;
  return next != task::none && next != task::drop
         && next != task::tell_conductor && next != task::await_conductor;
}

} // namespace

run_leader::run_leader(const leading_parts& with, run_queue& queue,
                       run_starter& starter, const run_places& places,
                       hooks tell)
  : with_(with), queue_(queue), starter_(starter), tell_(std::move(tell)),
    shares_(
      with, starter,
      {[this](const run_ptr& run, attempt::task next) { go_on(run, next); },
       [this](const run_ptr& run, const std::string& daemon,
              const error& reason) { lose(run, daemon, reason); }}),
    next_(
      with, queue, starter, places,
      [this](const run_ptr& run, attempt::task next) { go_on(run, next); }) {
  // nop
}

/// Carries out what the coordinator is to do for a run now.
void run_leader::go_on(const run_ptr& run, attempt::task next) {
  if (with_.lead.is_superseded()) // The run is the other coordinator's.
    return;
  if (run->life.is_closed())
    run->on.rendezvous.end();
  if (!is_own(next))
    return;
  run->unfinished = next; // It stays so if the task throws.
  carry_out(run, next);
  run->unfinished = attempt::task::none;
}

void run_leader::carry_out(const run_ptr& run, attempt::task next) {
  using task = attempt::task;
  switch (next) {
  case task::none:
  case task::drop:            // Of the queue alone.
  case task::tell_conductor:  // The run has done so itself.
  case task::await_conductor: // Which uses its files.
    break;
  case task::deploy:
    deploy(run);
    break;
  case task::rewind:
    next_.rewind(run);
    break;
  case task::conduct:
    if (run->is_feed()) {
      shares_.begin_feed(run);
      break;
    }
    tell_.conduct(*run);
    starter_.grow(); // Somebody may have come meanwhile.
    break;
  case task::end_shares:
    end(run);
    break;
  case task::hurry_shares:
    shares_.end(run, member_action::end);
    break;
  case task::collect:
    next_.collect(run);
    break;
  case task::wait:
    next_.wait(run);
    break;
  case task::file:
    file(run);
    break;
  }
}

// -- the way of an attempt

void run_leader::begin(const run_ptr& run, placement where) {
  run->on = {};
  run->unfinished = attempt::task::none;
  run->wait.returning.clear();
  run->recovery.begin();
  run->record.state = run_state::running;
  run->record.message.clear();
  if (run->record.started == unix_time{0})
    run->record.started = now_unix();
  run->life.place(names_of(where), run->recovery.is_wanted(),
                  run->attempts == 1);
  with_.active.add(run);
  next_.seat(*run, std::move(where));
}

void run_leader::recorded() {
  if (!with_.archive.all_written())
    return;
  for (const auto& run : with_.active.all())
    go_on(run, run->life.recorded());
}

void run_leader::deploy(const run_ptr& run) {
  if (run->attempts == 1) {
    if (auto begun = run->file->begin(with_.notices.outlets_of(run->id));
        !begun) {
      go_on(run, run->fail_run(begun.error()));
      return;
    }
    run->file->note_size(run->def, {run->point(), run->trainers()});
    next_.report_sizes(*run);
  }
  shares_.deploy(run);
}

void run_leader::conducted(const std::string& id, std::uint32_t attempt,
                           run_outcome outcome) {
  const auto run = with_.active.find(id, attempt);
  if (!run || run->life.is_over())
    return;
  run->on.outcome = std::move(outcome);
  if (auto state = std::exchange(run->on.outcome.paused, std::nullopt)) {
    run->from = std::move(state);
    go_on(run, run->life.paused(
                 fail(ec::unavailable,
                      "it pauses to go on with another number of trainers")));
  } else {
    go_on(run, run->life.conducted(run->on.outcome.failure));
  }
}

void run_leader::conductor_ended(const std::string& id, std::uint32_t attempt,
                                 const error& reason) {
  if (const auto run = with_.active.find(id, attempt))
    go_on(run, run->life.conductor_ended(reason));
}

void run_leader::end(const run_ptr& run) {
  run->record.ended = now_unix();
  run->on.seconds =
    run->spent
    + std::chrono::duration<double>(clock::now() - run->on.began).count();
  run->on.conductor = nullptr;
  // The consumer of a feed has gone: what it has taken is not verified for it.
  shares_.end(run, run->life.again() ? member_action::keep
                   : run->life.failure() || run->is_feed()
                     ? member_action::end
                     : member_action::finish);
  // If all daemons are lost, no answer will bring the run on.
  go_on(run, run->life.ordered_to_end());
}

void run_leader::give_up(const run_ptr& run, const error& reason) {
  conclude(run, run->life.give_up(reason));
}

/// A run that waited for its next attempt leaves what it has.
void run_leader::conclude(const run_ptr& run, attempt::task next) {
  run->on = {};
  run->record.state = run_state::running;
  run->record.ended = now_unix();
  run->recovery.begin();
  run->on.seconds = run->spent;
  if (run->from)
    run->on.outcome.train_steps = run->from->at.train_steps;
  run->on.health.begin(run->id, {}, run->attempts, 0);
  with_.active.add(run);
  go_on(run, next);
}

/// A run that no attempt has anything of leaves its record.
void run_leader::drop(submitted_run& run) {
  close_record(with_, run, run_state::cancelled,
               fmt::format("cancelled before {}",
                           run.attempts > 1 ? "its next attempt" : "it began"));
}

/// Writes what is left of the run. Waits for its disk on the thread that uses
/// its folder.
void run_leader::file(const run_ptr& run) {
  with_.daemons.let_leavers_go();
  auto& outcome = run->on.outcome;
  outcome.failure = run->life.failure();
  run->file->tell(run->on.health.whole());
  // What an attempt has left for the next one has no other place.
  const auto leaves = run->life.has_paused() || run->attempts > 1;
  with_.port.work<run_record>(
    cluster_port::lane::files,
    [lock = with_.config.lock, file = run->file, outcome,
     cancelled = run->life.cancelled() || run->is_feed(),
     seconds = run->on.seconds, leaves, feeds = run->is_feed(),
     from = run->from, def = run->def,
     parts = with_.config.graph->part_count()]() -> result<run_record> {
      GRAPHMILL_TRYV(lock->check()); // Else the folder is another one's.
      auto ends = outcome;
      if (leaves && from && !ends.parameters)
        file->leave(*from, def, parts);
      if (can_be_resumed(ends.failure) && !feeds)
        ends.failure->message += file->way_on();
      return file->close(ends, cancelled, seconds, feeds);
    },
    [this, id = run->id](result<run_record> record) {
      if (!record && with_.lead.gives_way(record.error()))
        return;
      const auto on = with_.active.find(id);
      if (!on)
        return;
      run_record lost;
      lost.state = run_state::failed;
      if (!record)
        lost.message = fmt::format("what is left of the run is not filed: {}",
                                   record.error().message);
      filed(on, record ? std::move(record).value() : std::move(lost));
    });
}

void run_leader::filed(const run_ptr& run, run_record with) {
  run->life.filed();
  auto record = run->record;
  record.state = with.state;
  auto story = run->on.losses;
  if (!with.message.empty())
    story.insert(story.begin(), std::move(with.message));
  record.message = fmt::format("{}", fmt::join(story, "; "));
  record.summary = std::move(with.summary);
  with_.notices.log_of(record.id)->info(
    "run {}: {}{}{}", record.id, to_string(record.state),
    record.message.empty() ? "" : ": ", record.message);
  with_.watchers.board().over(record.id);
  if (run->is_feed())
    tell_.fed(record.id, run->life.failure());
  else if (record.state == run_state::failed)
    starter_.put_off();
  with_.active.remove(run);
  with_.archive.note(record);
  starter_.start();
  tell_.filed();
}

// -- what daemons tell

result<payload> run_leader::take_events(const incoming_request& request) {
  const auto told = decode_run_events(request.data);
  if (!told) {
    // Of which run they are cannot be read, and the daemon ends its share of
    // that on this answer: none of its runs can go on with it.
    for (const auto& run : with_.active.all())
      if (run->is_member(request.from))
        go_on(run,
              run->fail_run(fail(told.error().code, "daemon \"{}\": {}",
                                 request.from.name, told.error().message)));
    return told.error();
  }
  const auto& events = told.value();
  const auto run = with_.active.find(events.run);
  if (!run || !run->is_member(request.from))
    return fail(ec::not_found, "run {} is not on", events.run);
  GRAPHMILL_TRY(const auto next,
                accept_events(*run, request.from.name, events));
  if (events.sound)
    with_.notices.log_of(run->id)->info(
      "run {}: the data of daemon {} are sound", run->id, request.from.name);
  // It may have failed while others are still being deployed.
  go_on(run, next);
  return payload{};
}

void run_leader::rendezvous(const incoming_request& request) {
  const auto asked = decode_rendezvous_request(request.data);
  const auto run = asked ? with_.active.find(asked.value().run) : nullptr;
  if (!asked)
    request.reply.reply(asked.error());
  else if (!run || run->life.is_closed())
    request.reply.reply(
      fail(ec::not_found, "run {} is not on", asked.value().run));
  else if (!run->is_member(request.from))
    request.reply.reply(fail(ec::permission, "\"{}\" has no share of run {}",
                             request.from.name, asked.value().run));
  else
    run->on.rendezvous.take(run->id, asked.value(), request.reply,
                            clock::now());
}

void run_leader::look(clock::time_point now) {
  for (const auto& run : with_.active.all()) {
    run->on.rendezvous.look(now);
    if (run->unfinished != attempt::task::none)
      finish_task(run);
  }
}

/// A task has thrown halfway, and the life of the run does not give it again.
/// If that was at the begin of an attempt, the run fails. Otherwise the task is
/// repeated. If that throws, too, the other runs go on all the same.
void run_leader::finish_task(const run_ptr& run) {
  using task = attempt::task;
  const auto next = run->unfinished;
  try {
    if (next == task::deploy || next == task::rewind || next == task::conduct)
      go_on(run,
            run->fail_run(fail(ec::internal, "an error in the coordinator "
                                             "kept it from beginning; the "
                                             "coordinator's log has more")));
    else
      go_on(run, next);
  } catch (...) {
    with_.notices.complain(
      caught(fmt::format("go on with run {}", run->id)).message);
  }
}

// -- daemons that go

/// Those that have not begun.
void run_leader::drop_feeds_of(const std::string& consumer) {
  const auto runs = queue_.all();
  for (const auto& run : runs)
    if (run->consumer == consumer && cancel(run->id, true))
      tell_.fed(run->id, fail(ec::unavailable, "its consumer was gone"));
}

void run_leader::end_feeds_of(const std::string& consumer) {
  drop_feeds_of(consumer);
  for (const auto& run : with_.active.all())
    if (run->consumer == consumer && !run->life.is_over())
      go_on(run, run->fail_run(
                   fail(ec::cancelled, "its consumer has begun another run")));
}

/// The consumer of a feed ends it.
void run_leader::leave_feed(const run_ptr& run) {
  go_on(run, run->life.now() == attempt::state::conducting
               ? run->life.conducted(std::nullopt)
               : run->fail_run(fail(ec::cancelled, "its consumer has left")));
}

void run_leader::lose(const std::string& daemon, const error& reason) {
  drop_feeds_of(daemon);
  for (const auto& run : with_.active.all())
    if (run->uses(daemon))
      lose(run, daemon, reason);
}

void run_leader::lose(const run_ptr& run, const std::string& daemon,
                      const error& reason) {
  if (!go_on_without(run, daemon, reason))
    go_on(run, run->lose(daemon, reason));
}

/// A daemon of the run is gone. Tells that the run goes on, if it can do
/// without it.
/// @returns whether it does.
bool run_leader::go_on_without(const run_ptr& run, const std::string& daemon,
                               const error& reason) {
  const auto& life = run->life;
  if (life.does_without(daemon))
    return true;
  if (life.is_closed() || life.failure() || !run->can_do_without(daemon))
    return false;
  run->on.losses.push_back(
    fmt::format("went on without daemon \"{}\", whose parts others serve: {}",
                daemon, reason.message));
  const auto& says = run->on.losses.back();
  with_.notices.log_of(run->id)->warn("run {} {}", run->id, says);
  with_.notices.event(event_kind::recovered, daemon, says, run->id);
  run->record.message = fmt::format("{}", fmt::join(run->on.losses, "; "));
  with_.archive.note(run->record);
  go_on(run, run->life.do_without(daemon));
  return true;
}

/// A daemon of a run that is on must stay until its share has ended: it may
/// have the weights. One that the run can do without need not, before all are
/// asked whether their data are sound.
void run_leader::leave(const incoming_request& request) {
  const auto& identity = request.from;
  const auto left =
    fail(ec::unavailable, "daemon \"{}\" has left the cluster", identity.name);
  drop_feeds_of(identity.name);
  std::vector<run_ptr> ending;
  for (const auto& run : with_.active.all())
    if (run->is_member(identity) && run->needs(identity.name)
        && (run->life.is_over() || !go_on_without(run, identity.name, left)))
      ending.push_back(run);
  if (ending.empty()) {
    with_.daemons.let_go(identity.name, identity.incarnation);
    request.reply.reply(payload{});
    return;
  }
  with_.daemons.leave_later(identity, request.reply);
  for (const auto& run : ending) {
    // Its operator has stopped it: that is no loss, after which the run would
    // be attempted again, perhaps while the whole cluster is being stopped.
    run->life.end_for_good();
    if (run->consumer == identity.name)
      leave_feed(run);
    else if (!run->life.cancelled()) // Else it ends by itself.
      go_on(run, run->fail_run(left));
  }
}

// -- users

bool run_leader::cancel(const std::string& id, bool now) {
  if (const auto queued = queue_.take(id)) {
    const auto next = queued->cancel(now);
    if (next == attempt::task::drop)
      drop(*queued);
    else
      conclude(queued, next);
    return true;
  }
  const auto run = with_.active.find(id);
  if (run)
    cancel(run, now);
  return run != nullptr;
}

void run_leader::cancel_all() {
  for (const auto& run : with_.active.all())
    cancel(run, false);
}

void run_leader::cancel(const run_ptr& run, bool now) {
  go_on(run, run->cancel(now));
  // Nobody needs what is searched for if no attempt follows.
  if (run->on.search && run->life.is_over() && !run->life.again())
    run->on.search->break_off();
}

// -- trouble

bool run_leader::crashed(const error& thrown) {
  auto any = false;
  for (const auto& run : with_.active.all()) {
    if (run->life.is_over() || run->life.failure())
      continue;
    any = true;
    with_.notices.log_of(run->id)->error("run {}: {}", run->id, thrown.message);
    go_on(run, run->fail_run(thrown));
  }
  return any;
}

void run_leader::let_go() {
  for (const auto& run : with_.active.all())
    run->on.conductor = nullptr;
}

} // namespace graphmill
