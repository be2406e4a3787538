#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/recovery/kept_offers.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/results/run_positions.hpp"

#include <algorithm>
#include <utility>

// What daemons have kept of a run, for its next attempt.

namespace graphmill {

/// What has been found of a run's state so far, for whom.
struct kept_search {
  std::string run;
  std::uint32_t attempt = 1;
  std::int64_t epochs_told = 0;   ///< By the metrics in its folder.
  std::size_t owing = 0;          ///< Daemons that have not answered.
  std::vector<kept_offer> offers; ///< In the end the best first.
  tensor_intake tensors;          ///< Of the first.
  std::function<void(const active_runs::run_ptr&,
                     std::optional<training_state>)>
    then;
};

namespace {

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

/// Asks the daemons that may have it, if they are there. One whose share is on
/// has its trainers copy what they have, before it answers.
void coordinator::search_kept(const run_ptr& run, kept_taker then) {
  const auto search = std::make_shared<kept_search>();
  search->run = run->id;
  search->attempt = run->attempt;
  search->then = std::move(then);
  run->search = search;
  const auto ask = calls_.expect([this, search](const auto&) {
    if (const auto on = run_of(search))
      ask_for_kept(on);
  });
  // By the thread that uses the run's folder, after what it does there.
  thread_.post(
    [ask, search, file = run->file] {
      search->epochs_told = file->reporter().epochs();
      ask(payload{});
    },
    [ask](const error& reason) { ask(reason); });
}

void coordinator::ask_for_kept(const run_ptr& run) {
  const auto search = run->search;
  const member_request wanted{search->run, member_action::kept};
  for (const auto& daemon : registry_.statuses()) {
    if (daemon.state == daemon_state::lost
        || !run->holders.contains(daemon.name)
        || registry_.is_distrusted(daemon.name))
      continue;
    ++search->owing;
    ask_daemon({daemon.name, daemon.address}, method::order, encode(wanted),
               within(timeouts::kept_search, timeouts::question_unreachable),
               [this, search, daemon](const result<payload>& answer) {
                 const auto on = run_of(search);
                 if (!on)
                   return;
                 if (auto offer = offer_in(daemon, answer))
                   take_offer(*on, *std::move(offer));
                 if (--search->owing == 0)
                   choose_kept(on);
               });
  }
  if (search->owing == 0)
    choose_kept(run);
}

/// The run that a search is for; null: the run is over, or nothing is searched
/// for any more.
coordinator::run_ptr coordinator::run_of(const search_ptr& search) const {
  auto run = active_.find(search->run, search->attempt);
  return run && run->search == search ? run : nullptr;
}

/// One that cannot be true makes nobody fetch it, nor lose what others have.
void coordinator::take_offer(const active_run& run, kept_offer offer) const {
  const auto& def = run.def;
  auto& search = *run.search;
  if (trains_nothing(def))
    return; // Its checkpoint has its weights; nothing is further.
  const auto seeds = std::ssize(config_.graph->seeds(split::train, def.labels));
  const auto batch = std::int64_t{def.train.batch_size};
  known_course course;
  course.epochs = def.train.epochs;
  course.epochs_told = search.epochs_told;
  course.steps_per_epoch = (seeds + batch - 1) / batch;
  course.max_steps = def.train.max_steps;
  course.is_resumed = !run.from_run.empty();
  course.only_attempt = def.trainer.is_open() ? run.last_begun : 0;
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

void coordinator::choose_kept(const run_ptr& run) {
  const auto search = run->search;
  auto preferred = by_preference(std::move(search->offers));
  for (const auto& dispute : preferred.disputes)
    log_of(search->run)->error("run {}: {}", search->run, dispute);
  search->offers = std::move(preferred.offers);
  try_offer(run);
}

/// Fetches the best that is left.
void coordinator::try_offer(const run_ptr& run) {
  const auto search = run->search;
  // What the last attempt began with may be further than what was kept.
  if (search->offers.empty()
      || (run->from
          && !is_further(search->offers.front().at,
                         wire_form(run->from->at, {})))) {
    end_search(run, std::exchange(run->from, std::nullopt));
    return;
  }
  search->tensors = tensor_intake{search->offers.front().tensors};
  fetch_kept(run);
}

void coordinator::fetch_kept(const run_ptr& run) {
  const auto search = run->search;
  const auto& from = search->offers.front();
  auto wanted = search->tensors.next(search->run);
  if (!wanted) {
    if (auto given = check_given(from, search->tensors.weights_digest());
        !given) {
      pass_over(run, given.error());
      return;
    }
    log_of(search->run)
      ->info("run {}: its state in {} is taken from daemon {}", search->run,
             place_name(position_in(from.at)), from.daemon);
    end_search(run,
               training_state{position_in(from.at), sums_in(from.at),
                              std::make_shared<const std::vector<named_tensor>>(
                                search->tensors.done())});
    return;
  }
  wanted->kept = true;
  ask_daemon({from.daemon, from.address}, method::weights, encode(*wanted),
             within(timeouts::kept_piece, timeouts::question_unreachable),
             [this, search](const result<payload>& answer) {
               const auto on = run_of(search);
               if (!on)
                 return;
               auto taken = answer ? search->tensors.take(answer.value())
                                   : result<void>{answer.error()};
               if (taken)
                 fetch_kept(on);
               else
                 pass_over(on, taken.error());
             });
}

/// The best offer is of no use: the next one is tried.
void coordinator::pass_over(const run_ptr& run, const error& reason) {
  const auto search = run->search;
  log_of(search->run)
    ->warn("run {}: daemon {} does not give what it has kept: {}", search->run,
           search->offers.front().daemon, reason.message);
  search->offers.erase(search->offers.begin());
  try_offer(run);
}

void coordinator::end_search(const run_ptr& run,
                             std::optional<training_state> found) {
  const auto search = std::exchange(run->search, nullptr);
  search->then(run, std::move(found));
}

/// Nobody needs what is searched for: the run is over, and no attempt follows.
void coordinator::break_search_off(const run_ptr& run) {
  if (run->search && run->turn.is_over() && !run->turn.again())
    end_search(run, std::nullopt);
}

} // namespace graphmill
