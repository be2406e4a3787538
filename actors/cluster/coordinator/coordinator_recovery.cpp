#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/base/enumerated.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/results/run_positions.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

std::string place_name(const course_position& at) {
  return fmt::format("epoch {}, step {}", at.epoch + 1, at.step + 1);
}

/// What a daemon has answered that was asked what it has kept.
std::optional<kept_offer> offer_in(const daemon_status& daemon,
                                   const result<payload>& answer) {
  if (!answer)
    return std::nullopt;
  auto told = decode_member_reply(answer.value());
  if (!told || !told.value().kept || told.value().trainers.empty())
    return std::nullopt;
  auto& reply = told.value();
  return kept_offer{daemon.name, daemon.address, *reply.kept,
                    reply.trainers.front().digest, std::move(reply.tensors)};
}

} // namespace

/// What has been found of a run's state so far, for whom.
struct coordinator::kept_search {
  std::string run;
  std::uint32_t attempt = 1;
  std::size_t owing = 0; ///< Daemons that have not answered.
  std::vector<kept_offer> offers;
  std::size_t chosen = 0; ///< Whose state is being fetched.
  kept_taker then;
};

// -- a run that does without a daemon

/// A daemon of the run is gone. Tells that the run goes on, if it can do
/// without it.
/// @returns whether it does.
bool coordinator::go_on_without(const std::string& daemon,
                                const error& reason) {
  const auto& turn = active_->turn;
  if (turn.does_without(daemon))
    return true;
  const auto decided =
    turn.now() == run_turn::state::filing || turn.failure().has_value();
  if (decided || !active_->can_do_without(daemon))
    return false;
  active_->losses.push_back(
    fmt::format("went on without daemon \"{}\", whose parts others serve: {}",
                daemon, reason.message));
  config_.log->warn("run {} {}", active_->id, active_->losses.back());
  active_->record.message = fmt::format("{}", fmt::join(active_->losses, "; "));
  note(active_->record);
  go_on(active_->turn.do_without(daemon));
  return true;
}

// -- the end of an attempt

/// All shares of an attempt that has lost a daemon have ended: what its
/// trainers had is fetched, and then the run waits for its next attempt. @pre
/// its conductor has ended, which uses the run's files
void coordinator::recover() {
  auto& turn = active_->turn;
  const auto reason = *turn.failure();
  if (active_->paused) {
    go_on_paused();
    return;
  }
  if (auto last =
        active_->recovery.broken(reason, active_->trained, clock::now())) {
    turn.give_up(*std::move(last));
    close();
    return;
  }
  auto says =
    fmt::format("attempt {} has ended: {}", active_->attempt, reason.message);
  config_.log->warn("run {}: {}", active_->id, says);
  active_->file->note(says);
  search_kept([this](std::optional<training_state> found) {
    attempt_later(std::move(found));
  });
}

/// Puts the run at the front of the queue.
void coordinator::attempt_later(std::optional<training_state> found) {
  if (!active_->turn.again()) { // It was cancelled meanwhile.
    close();
    return;
  }
  let_leavers_go();
  auto run = std::move(static_cast<submitted_run&>(*active_));
  if (found)
    run.from = std::move(found);
  run.spent = active_->seconds;
  wait_for_trainers(run);
  ++run.attempt;
  run.record.state = run_state::queued;
  run.record.ended = {};
  if (!queue_.empty())
    run.place = std::min(run.place, queue_.front().place - 1);
  active_.reset();
  // A daemon that fails again and again is not deployed on without a pause.
  if (run.recovery.is_stuck())
    start_at_ = clock::now() + timeouts::after_failure;
  run.record.message = fmt::format("waits for attempt {}", run.attempt);
  note_standing(run);
  queue_.push_front(std::move(run));
  start_next();
}

// -- the begin of the next one

/// The run has been placed. Daemons that were out of reach may have its state.
void coordinator::attempt_again() {
  active_->recovery.begin();
  if (active_->from) {
    rewind();
    return;
  }
  search_kept([this](std::optional<training_state> found) {
    active_->from = std::move(found);
    if (!active_->turn.is_over())
      rewind();
  });
}

void coordinator::rewind() {
  const auto tell = [me = handle_of<interface>(self_), id = active_->id,
                     attempt =
                       active_->attempt](result<run_rewound::state> how) {
    post(me, run_rewound{
               id, attempt,
               std::make_shared<result<run_rewound::state>>(std::move(how))});
  };
  thread_.post(
    [tell, lock = config_.lock, file = active_->file, from = active_->from,
     def = active_->def, attempt = active_->attempt,
     spent = std::exchange(active_->spent, 0), trainers = active_->trainers(),
     console = config_.log->sinks().front()] {
      if (auto held = lock->check(); !held) // The folder is another one's.
        tell(held.error());
      else
        tell(file->go_back(from, def, {attempt, spent, trainers, console}));
    },
    [tell](const error& reason) { tell(reason); });
}

void coordinator::on_rewound(const run_rewound& back) {
  if (!active_ || !active_->is(back.run, back.attempt)
      || active_->turn.now() != run_turn::state::deploying)
    return;
  if (!*back.from) {
    if (gives_way(back.from->error()))
      return;
    go_on(active_->fail_run(back.from->error()));
    return;
  }
  active_->from = std::move(*back.from).value();
  if (!place_anew())
    return;
  std::vector<std::string> names;
  for (const auto& daemon : active_->where.daemons)
    names.push_back(daemon.name);
  const auto says =
    fmt::format("attempt {} {}; daemons {}", active_->attempt,
                active_->from ? "goes on from " + place_name(active_->from->at)
                              : std::string{"goes on from the beginning"},
                enumerated(names))
    + (active_->def.trainer.is_elastic()
         ? fmt::format("; {}", pluralized(active_->trainers(), "trainer"))
         : std::string{});
  config_.log->info("run {}: {}", active_->id, says);
  active_->file->note(says);
  active_->record.message = says;
  tell_sizes();
  note(active_->record);
  deploy();
}

// -- a run that waits for too long

/// Not before those that it was on have had the time to come back.
void coordinator::give_up_waiting(clock::time_point now) {
  if (active_ || queue_.empty() || !queue_.front().recovery.is_over(now)
      || (!returning_.empty() && now < return_until_))
    return;
  auto run = std::move(queue_.front());
  queue_.pop_front();
  const auto where = place_now(run.wanted());
  const auto reason = run.recovery.gave_up(
    where
      ? fail(ec::unavailable, "its daemons are there, but it could not begin")
      : where.error());
  conclude(std::move(run), reason, false);
}

/// Files a run that is not on, with what it has left. @pre none is on
void coordinator::conclude(submitted_run run, const error& reason,
                           bool cancelled) {
  active_.emplace();
  static_cast<submitted_run&>(*active_) = std::move(run);
  active_->record.state = run_state::running;
  active_->recovery.begin();
  if (active_->from)
    active_->outcome.train_steps = active_->from->at.train_steps;
  health_.begin(active_->id, {});
  go_on(cancelled ? active_->cancel(true) : active_->fail_run(reason));
}

// -- what daemons have kept

/// Asks all daemons that are there. One whose share is on has its trainers copy
/// what they have, before it answers.
void coordinator::search_kept(kept_taker then) {
  auto search = std::make_shared<kept_search>();
  search->run = active_->id;
  search->attempt = active_->attempt;
  search->then = std::move(then);
  const member_request wanted{active_->id, member_action::kept};
  for (const auto& daemon : registry_.statuses()) {
    if (daemon.state == daemon_state::lost)
      continue;
    ++search->owing;
    calls_.call(daemon.address, method::order, encode(wanted),
                within(timeouts::share_end, timeouts::question_unreachable),
                [this, search, daemon](const result<payload>& answer) {
                  if (!answer && gives_way(answer.error()))
                    return;
                  if (auto offer = offer_in(daemon, answer))
                    search->offers.push_back(*std::move(offer));
                  if (--search->owing == 0)
                    choose_kept(search);
                });
  }
  if (search->owing == 0)
    choose_kept(search);
}

void coordinator::choose_kept(const std::shared_ptr<kept_search>& search) {
  if (!active_ || !active_->is(search->run, search->attempt))
    return;
  const auto best = furthest_of(search->offers);
  if (!best)
    config_.log->error("run {}: {}", search->run, best.error().message);
  // What the last attempt began with may be further than what was kept.
  if (!best || !best.value()
      || (active_->from
          && !is_further(search->offers[*best.value()].at,
                         wire_form(active_->from->at, {})))) {
    search->then(std::exchange(active_->from, std::nullopt));
    return;
  }
  search->chosen = *best.value();
  fetch_kept(search, std::make_shared<tensor_intake>(
                       search->offers[search->chosen].tensors));
}

void coordinator::fetch_kept(const std::shared_ptr<kept_search>& search,
                             const std::shared_ptr<tensor_intake>& tensors) {
  const auto& from = search->offers[search->chosen];
  auto wanted = tensors->next(search->run);
  if (!wanted) {
    if (auto given = check_given(from, tensors->weights_digest()); !given) {
      pass_over(search, given.error());
      return;
    }
    config_.log->info("run {}: its state in {} is taken from daemon {}",
                      search->run, place_name(position_in(from.at)),
                      from.daemon);
    search->then(training_state{
      position_in(from.at), sums_in(from.at),
      std::make_shared<const std::vector<named_tensor>>(tensors->done())});
    return;
  }
  wanted->kept = true;
  calls_.call(
    from.address, method::weights, encode(*wanted),
    within(timeouts::data_request, timeouts::question_unreachable),
    [this, search, tensors](const result<payload>& answer) {
      if (!active_ || !active_->is(search->run, search->attempt)
          || (!answer && gives_way(answer.error())))
        return;
      auto taken =
        answer ? tensors->take(answer.value()) : result<void>{answer.error()};
      if (taken) {
        fetch_kept(search, tensors);
        return;
      }
      pass_over(search, fail(taken.error().code,
                             "daemon \"{}\" does not give what it has kept: {}",
                             search->offers[search->chosen].daemon,
                             taken.error().message));
    });
}

/// What was chosen cannot be had: the next one is, or the checkpoint.
void coordinator::pass_over(const std::shared_ptr<kept_search>& search,
                            const error& reason) {
  config_.log->warn("run {}: {}", search->run, reason.message);
  search->offers.erase(search->offers.begin()
                       + static_cast<std::ptrdiff_t>(search->chosen));
  choose_kept(search);
}

} // namespace graphmill
