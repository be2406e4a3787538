#include "actors/cluster/coordinator/leading/kept_search.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/results/run_positions.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <spdlog/logger.h>

#include <utility>

namespace graphmill {

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

known_course course_of(const submitted_run& run, std::int64_t seeds,
                       std::int64_t epochs_told) {
  const auto batch = std::int64_t{run.def.train.batch_size};
  known_course out;
  out.epochs = run.def.train.epochs;
  out.epochs_told = epochs_told;
  out.steps_per_epoch = (seeds + batch - 1) / batch;
  out.max_steps = run.def.train.max_steps;
  out.is_resumed = !run.from_run.empty();
  out.only_attempt = run.def.trainer.is_open() ? run.last_begun : 0;
  return out;
}

} // namespace

kept_search::kept_search(const leading_parts& with, const run_ptr& run,
                         callback then)
  : with_(with), run_(run), then_(std::move(then)) {
  // nop
}

void kept_search::begin(const leading_parts& with, const run_ptr& run,
                        callback then) {
  const auto search = std::make_shared<kept_search>(with, run, std::move(then));
  run->on.search = search;
  // By the thread that uses the run's folder, after what it does there.
  with.port.work<std::int64_t>(
    cluster_port::lane::files,
    [file = run->file]() -> result<std::int64_t> {
      return static_cast<std::int64_t>(file->reporter().epochs());
    },
    [search](const result<std::int64_t>& told) {
      const auto on = search->run_if_on();
      if (!on)
        return;
      if (told)
        search->epochs_told_ = told.value();
      search->ask_daemons(on);
    });
}

/// Null: nothing is searched for any more.
run_ptr kept_search::run_if_on() const {
  auto run = run_.lock();
  return run && run->on.search.get() == this ? run : nullptr;
}

/// One whose share is on has its trainers copy what they have, before it
/// answers.
void kept_search::ask_daemons(const run_ptr& run) {
  const member_request wanted{run->id, member_action::kept};
  const auto& registry = with_.daemons.registry();
  for (const auto& daemon : registry.statuses()) {
    if (daemon.state == daemon_state::lost
        || !run->holders.contains(daemon.name)
        || registry.is_distrusted(daemon.name))
      continue;
    ++owing_;
    with_.lead.ask(
      {daemon.name, daemon.address}, method::order, encode(wanted),
      within(timeouts::kept_search, timeouts::question_unreachable),
      [self = shared_from_this(), daemon](const result<payload>& answer) {
        const auto on = self->run_if_on();
        if (!on)
          return;
        if (auto offer = offer_in(daemon, answer))
          self->take(*on, *std::move(offer));
        if (--self->owing_ == 0)
          self->choose(on);
      });
  }
  if (owing_ == 0)
    choose(run);
}

/// One that cannot be true makes nobody fetch it, nor lose what others have.
void kept_search::take(const submitted_run& run, kept_offer offer) {
  if (trains_nothing(run.def))
    return; // Its checkpoint has its weights; nothing is further.
  const auto& graph = *with_.config.graph;
  auto fits = check_offer(
    offer, course_of(run, seed_count(graph.info(), run.def, split::train),
                     epochs_told_));
  if (fits)
    fits = check_state(run.def, graph.info(), offer.tensors);
  if (fits)
    offers_.push_back(std::move(offer));
  else
    log(run)->warn("run {}: what daemon {} says it has kept is not used: {}",
                   run.id, offer.daemon, fits.error().message);
}

void kept_search::choose(const run_ptr& run) {
  auto preferred = by_preference(std::move(offers_));
  for (const auto& dispute : preferred.disputes)
    log(*run)->error("run {}: {}", run->id, dispute);
  offers_ = std::move(preferred.offers);
  try_offer(run);
}

/// Fetches the best that is left.
void kept_search::try_offer(const run_ptr& run) {
  // What the last attempt began with may be further than what was kept.
  if (offers_.empty()
      || (run->from
          && !is_further(offers_.front().at, wire_form(run->from->at, {})))) {
    end(run, std::exchange(run->from, std::nullopt));
    return;
  }
  tensors_ = tensor_intake{offers_.front().tensors};
  fetch(run);
}

void kept_search::fetch(const run_ptr& run) {
  const auto& from = offers_.front();
  auto wanted = tensors_.next(run->id);
  if (!wanted) {
    if (auto given = check_given(from, tensors_.weights_digest()); !given) {
      pass_over(run, given.error());
      return;
    }
    const auto at = position_in(from.at);
    log(*run)->info("run {}: its state in {} is taken from daemon {}", run->id,
                    place_name(at), from.daemon);
    end(run, training_state{at, sums_in(from.at),
                            std::make_shared<const std::vector<named_tensor>>(
                              tensors_.done())});
    return;
  }
  wanted->kept = true;
  with_.lead.ask({from.daemon, from.address}, method::weights, encode(*wanted),
                 within(timeouts::kept_piece, timeouts::question_unreachable),
                 [self = shared_from_this()](const result<payload>& answer) {
                   if (const auto on = self->run_if_on())
                     self->take_piece(on, answer);
                 });
}

void kept_search::take_piece(const run_ptr& run,
                             const result<payload>& answer) {
  const auto taken =
    answer ? tensors_.take(answer.value()) : result<void>{answer.error()};
  if (taken)
    fetch(run);
  else
    pass_over(run, taken.error());
}

/// The best offer is of no use: the next one is tried.
void kept_search::pass_over(const run_ptr& run, const error& reason) {
  log(*run)->warn("run {}: daemon {} does not give what it has kept: {}",
                  run->id, offers_.front().daemon, reason.message);
  offers_.erase(offers_.begin());
  try_offer(run);
}

void kept_search::break_off() {
  if (const auto run = run_if_on())
    end(run, std::nullopt);
}

void kept_search::end(const run_ptr& run, std::optional<training_state> found) {
  const auto self = shared_from_this(); // The run lets go of it.
  run->on.search = nullptr;
  then_(run, std::move(found));
}

std::shared_ptr<spdlog::logger>
kept_search::log(const submitted_run& run) const {
  return with_.notices.log_of(run.id);
}

} // namespace graphmill
