#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/recovery/kept_offers.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/enumerated.hpp"
#include "pipelines/model/state_shapes.hpp"
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
  return kept_offer{daemon.name,
                    daemon.address,
                    *reply.kept,
                    reply.trainers.front().digest,
                    std::move(reply.tensors),
                    reply.kept_attempt};
}

} // namespace

/// What has been found of a run's state so far, for whom.
struct coordinator::kept_search {
  std::string run;
  std::uint32_t attempt = 1;
  std::int64_t epochs_told = 0;   ///< By the metrics in its folder.
  std::size_t owing = 0;          ///< Daemons that have not answered.
  std::vector<kept_offer> offers; ///< In the end the best first.
  tensor_intake tensors;          ///< Of the first.
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
  run_log()->warn("run {} {}", active_->id, active_->losses.back());
  tell(event_kind::recovered, daemon, active_->losses.back(), active_->id);
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
        active_->recovery.broken(reason, active_->reached, clock::now())) {
    turn.give_up(*std::move(last));
    close();
    return;
  }
  auto says =
    fmt::format("attempt {} has ended: {}", active_->attempt, reason.message);
  run_log()->warn("run {}: {}", active_->id, says);
  tell(event_kind::warning, {}, says, active_->id);
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
  const auto* why = active_->paused ? ", with other trainers" : "";
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
  if (const auto pause = run.recovery.pause(); pause.count() != 0)
    start_at_ = clock::now() + pause;
  run.record.message = fmt::format("waits for attempt {}{}", run.attempt, why);
  note_standing(run, run.holders_but(calls_.net().self().name));
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
  active_->last_begun = active_->attempt; // Its folder notes its trainers.
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
     outlets = run_outlets(), resumed = !active_->from_run.empty()] {
      if (auto held = lock->check(); !held) // The folder is another one's.
        tell(held.error());
      else
        tell(file->go_back(from, def,
                           {attempt, spent, trainers, outlets, resumed}));
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
    auto reason = back.from->error();
    if (reason.code == ec::no_space) // There may be room at the next attempt.
      reason.code = ec::unavailable;
    go_on(active_->fail_run(std::move(reason)));
    return;
  }
  active_->from = std::move(*back.from).value();
  recall_news();
  if (!place_anew())
    return;
  std::vector<std::string> names;
  for (const auto& daemon : active_->where.daemons)
    names.push_back(daemon.name);
  const auto says =
    fmt::format("attempt {} goes on from {}; daemons {}", active_->attempt,
                active_->from ? place_name(active_->from->at) : "the beginning",
                enumerated(names))
    + (active_->def.trainer.is_elastic()
         ? fmt::format("; {}", pluralized(active_->trainers(), "trainer"))
         : std::string{});
  run_log()->info("run {}: {}", active_->id, says);
  tell(event_kind::recovered, {}, says, active_->id);
  active_->file->note(says);
  active_->record.message = says;
  tell_sizes();
  note(active_->record);
  deploy();
}

/// Of a run that another coordinator has begun: who begins to watch it sees the
/// epochs before, too.
void coordinator::recall_news() {
  std::vector<run_news> before;
  const auto epochs = active_->from ? active_->from->at.epoch : 0;
  for (const auto& line : active_->file->reporter().lines_of(epochs))
    before.push_back({.metrics = line.dump()});
  board_.recall(active_->id, std::move(before));
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
  health_.begin(active_->id, {}, active_->attempt, 0);
  go_on(cancelled ? active_->cancel(true) : active_->fail_run(reason));
}

// -- what daemons have kept

/// Asks the daemons that may have it, if they are there. One whose share is on
/// has its trainers copy what they have, before it answers.
void coordinator::search_kept(kept_taker then) {
  search_ = std::make_shared<kept_search>();
  search_->run = active_->id;
  search_->attempt = active_->attempt;
  search_->then = std::move(then);
  const auto ask = calls_.expect([this, search = search_](const auto&) {
    if (is_on(search))
      ask_for_kept(search);
  });
  // By the thread that uses the run's folder, after what it does there.
  thread_.post(
    [ask, search = search_, file = active_->file] {
      search->epochs_told = file->reporter().epochs();
      ask(payload{});
    },
    [ask](const error& reason) { ask(reason); });
}

void coordinator::ask_for_kept(const std::shared_ptr<kept_search>& search) {
  const member_request wanted{search->run, member_action::kept};
  for (const auto& daemon : registry_.statuses()) {
    if (daemon.state == daemon_state::lost
        || !active_->holders.contains(daemon.name)
        || registry_.is_distrusted(daemon.name))
      continue;
    ++search->owing;
    ask_daemon({daemon.name, daemon.address}, method::order, encode(wanted),
               within(timeouts::kept_search, timeouts::question_unreachable),
               [this, search, daemon](const result<payload>& answer) {
                 if (!is_on(search))
                   return;
                 if (auto offer = offer_in(daemon, answer))
                   take_offer(*search, *std::move(offer));
                 if (--search->owing == 0)
                   choose_kept(search);
               });
  }
  if (search->owing == 0)
    choose_kept(search);
}

/// Whether nothing has taken the place of the search, or has ended it.
bool coordinator::is_on(const std::shared_ptr<kept_search>& search) const {
  return search == search_ && active_
         && active_->is(search->run, search->attempt);
}

/// One that cannot be true makes nobody fetch it, nor lose what others have.
void coordinator::take_offer(kept_search& search, kept_offer offer) const {
  const auto& def = active_->def;
  if (trains_nothing(def))
    return; // Its checkpoint has its weights; nothing is further.
  const auto seeds = std::ssize(config_.graph->seeds(split::train, def.labels));
  const auto batch = std::int64_t{def.train.batch_size};
  known_course course;
  course.epochs = def.train.epochs;
  course.epochs_told = search.epochs_told;
  course.steps_per_epoch = (seeds + batch - 1) / batch;
  course.max_steps = def.train.max_steps;
  course.is_resumed = !active_->from_run.empty();
  course.only_attempt = def.trainer.is_open() ? active_->last_begun : 0;
  auto fits = check_offer(offer, course);
  if (fits)
    fits = check_state(def, config_.graph->info(), offer.tensors);
  if (fits)
    search.offers.push_back(std::move(offer));
  else
    log_of(search.run)
      ->warn("run {}: what daemon {} says it has kept is not used: {}",
             search.run, offer.daemon, fits.error().message);
}

void coordinator::choose_kept(const std::shared_ptr<kept_search>& search) {
  auto preferred = by_preference(std::move(search->offers));
  for (const auto& dispute : preferred.disputes)
    log_of(search->run)->error("run {}: {}", search->run, dispute);
  search->offers = std::move(preferred.offers);
  try_offer(search);
}

/// Fetches the best that is left.
void coordinator::try_offer(const std::shared_ptr<kept_search>& search) {
  // What the last attempt began with may be further than what was kept.
  if (search->offers.empty()
      || (active_->from
          && !is_further(search->offers.front().at,
                         wire_form(active_->from->at, {})))) {
    end_search(std::exchange(active_->from, std::nullopt));
    return;
  }
  search->tensors = tensor_intake{search->offers.front().tensors};
  fetch_kept(search);
}

void coordinator::fetch_kept(const std::shared_ptr<kept_search>& search) {
  const auto& from = search->offers.front();
  auto wanted = search->tensors.next(search->run);
  if (!wanted) {
    if (auto given = check_given(from, search->tensors.weights_digest());
        !given) {
      pass_over(search, given.error());
      return;
    }
    log_of(search->run)
      ->info("run {}: its state in {} is taken from daemon {}", search->run,
             place_name(position_in(from.at)), from.daemon);
    end_search(training_state{position_in(from.at), sums_in(from.at),
                              std::make_shared<const std::vector<named_tensor>>(
                                search->tensors.done())});
    return;
  }
  wanted->kept = true;
  ask_daemon({from.daemon, from.address}, method::weights, encode(*wanted),
             within(timeouts::kept_piece, timeouts::question_unreachable),
             [this, search](const result<payload>& answer) {
               if (!is_on(search))
                 return;
               auto taken = answer ? search->tensors.take(answer.value())
                                   : result<void>{answer.error()};
               if (taken)
                 fetch_kept(search);
               else
                 pass_over(search, taken.error());
             });
}

/// The best offer is of no use: the next one is tried.
void coordinator::pass_over(const std::shared_ptr<kept_search>& search,
                            const error& reason) {
  log_of(search->run)
    ->warn("run {}: daemon {} does not give what it has kept: {}", search->run,
           search->offers.front().daemon, reason.message);
  search->offers.erase(search->offers.begin());
  try_offer(search);
}

void coordinator::end_search(std::optional<training_state> found) {
  const auto search = std::exchange(search_, nullptr);
  search->then(std::move(found));
}

/// Nobody needs what is searched for: the run is over, and no attempt follows.
void coordinator::break_search_off() {
  if (search_ && is_on(search_) && active_->turn.is_over()
      && !active_->turn.again())
    end_search(std::nullopt);
}

} // namespace graphmill
