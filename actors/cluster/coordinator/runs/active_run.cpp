#include "actors/cluster/coordinator/runs/active_run.hpp"

#include "actors/base/timeouts.hpp"
#include "pipelines/definition/measured_seeds.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Ranks ask for one key at a time.
constexpr std::size_t most_questions = 4096;

/// Of what a daemon says about a failure, this much is kept.
constexpr std::size_t longest_failure = 4096;

error not_its_rank(const std::string& daemon, rank_id rank) {
  return fail(ec::permission, "daemon \"{}\" has no rank {}", daemon, rank);
}

/// @param work As of `work_without_training`.
run_news news_of(const phase_request& request, std::int64_t done,
                 const std::string& work) {
  run_news out;
  out.label = !work.empty() ? work
              : request.phase == phase::train
                ? fmt::format("train epoch {}", request.epoch + 1)
                : std::string{to_string(request.phase)};
  out.done = static_cast<std::uint64_t>(done);
  out.total = static_cast<std::uint64_t>(request.steps);
  return out;
}

} // namespace

std::vector<std::string>
submitted_run::holders_but(const std::string& own) const {
  std::vector<std::string> out{holders.begin(), holders.end()};
  std::erase(out, own);
  return out;
}

definition submitted_run::wanted() const {
  auto out = def;
  if (const auto size = size_at(def, point())) {
    // Those of `placement.trainers` that are not there need not come.
    out = sized(def, *size);
    out.trainer.min_replicas = *size;
  }
  return out;
}

std::set<std::string> names_of(const placement& where) {
  std::set<std::string> out;
  for (const auto& daemon : where.daemons)
    out.insert(daemon.name);
  return out;
}

run_standing standing_of(const submitted_run& run,
                         std::vector<std::string> daemons) {
  return {run.place,    run.attempt,         run.home,
          run.from_run, run.from_checkpoint, std::move(daemons)};
}

bool active_run::uses(const std::string& daemon) const {
  return std::any_of(
    where.daemons.begin(), where.daemons.end(),
    [&daemon](const auto& placed) { return placed.name == daemon; });
}

bool active_run::is_member(const peer_identity& identity) const {
  return std::any_of(where.daemons.begin(), where.daemons.end(),
                     [&identity](const auto& placed) {
                       return placed.name == identity.name
                              && placed.address == identity.address;
                     });
}

bool active_run::can_do_without(const std::string& daemon) const {
  if (!sound.contains(daemon))
    return false;
  auto position = where.daemons.size();
  std::vector<std::uint16_t> gone;
  for (std::size_t d = 0; d < where.daemons.size(); ++d) {
    if (where.daemons[d].name == daemon)
      position = d;
    else if (turn.has_lost(where.daemons[d].name))
      gone.push_back(static_cast<std::uint16_t>(d));
  }
  return position != where.daemons.size()
         && where.can_spare(static_cast<std::uint16_t>(position), gone);
}

run_turn::task active_run::fail_run(error reason) {
  const auto next = turn.fail_run(reason);
  if (next == run_turn::task::tell_conductor)
    post(conductor, run_failed{std::move(reason)});
  return next;
}

run_turn::task active_run::lose(const std::string& daemon,
                                const error& reason) {
  const auto next = turn.lose(daemon, reason);
  if (next != run_turn::task::tell_conductor)
    return next;
  const auto it = std::find(members.begin(), members.end(), daemon);
  if (it == members.end()) // It serves the others.
    post(conductor, run_failed{reason});
  else
    post(conductor,
         member_lost{static_cast<std::size_t>(it - members.begin()), reason});
  return next;
}

run_turn::task active_run::cancel(bool now) {
  const auto next = turn.cancel(attempt > 1);
  if (next == run_turn::task::tell_conductor)
    post_urgent(conductor, cancel_run{now});
  return next;
}

result<void> active_run::check_moment(const std::string& daemon, moment at,
                                      const std::string& leader) const {
  std::vector<std::string> trains;
  for (std::size_t d = 0; d < where.daemons.size(); ++d)
    if (!where.ranks_of(static_cast<std::uint16_t>(d)).empty())
      trains.push_back(where.daemons[d].name);
  if (trains.empty())
    return ok();
  switch (at) {
  case moment::checkpoint:
    if (def.checkpoint.keep == 0)
      return fail(ec::invalid_argument, "run {} writes no checkpoints", id);
    // The conductor asks the first member for a copy.
    if (daemon == leader || daemon == trains.front())
      return ok();
    return fail(ec::invalid_argument,
                "daemon \"{}\" never comes to the moment `checkpoint` in run "
                "{}: daemon \"{}\" copies what trainers have, and the "
                "coordinator, \"{}\", writes it",
                daemon, id, trains.front(), leader);
  case moment::filling_caches:
  case moment::exchange:
  case moment::epoch_edge:
  case moment::evaluation:
    if (std::ranges::find(trains, daemon) != trains.end())
      return ok();
    return fail(
      ec::invalid_argument,
      "daemon \"{}\" never comes to the moment `{}` in run {}: it has "
      "no trainer of it, as {} {}",
      daemon, to_string(at), id, fmt::join(trains, ", "),
      trains.size() == 1 ? "has" : "have");
  case moment::at_once:
  case moment::start_up:
  case moment::mid_epoch:
  case moment::drain:
    break;
  }
  return ok();
}

deployment active_run::deployment_for(std::size_t daemon,
                                      const std::string& digest,
                                      const std::string& coordinator) const {
  deployment out;
  out.run = id;
  out.generation = attempt - 1;
  out.def = sized(def, trainers());
  out.dataset_digest = digest;
  out.daemons = where.daemons;
  out.owner_of_part = where.owner_of_part;
  out.daemon_of_rank = where.daemon_of_rank;
  out.you = static_cast<std::uint16_t>(daemon);
  out.coordinator = coordinator;
  out.samplers = where.samplers;
  out.replicas_of_part = where.replicas_of_part;
  if (const auto& learnt = view.learnt)
    out.learnt = learnt_labels{std::string{to_string(learnt->kind)},
                               learnt->type, learnt->count};
  return out;
}

result<run_turn::task> active_run::take(const std::string& daemon,
                                        const run_events& events) {
  const auto breaks =
    turn.now() == run_turn::state::ending && turn.again() && events.failure;
  if ((turn.is_over() && !breaks)
      || (events.attempt != 0 && events.attempt != attempt))
    return fail(ec::not_found, "{} of run {} is over",
                events.attempt == 0 ? std::string{"this attempt"}
                                    : fmt::format("attempt {}", events.attempt),
                id);
  for (const auto& step : events.steps)
    if (!has_rank(daemon, step.key.rank))
      return not_its_rank(daemon, step.key.rank);
  for (const auto rank : events.stopped)
    if (!has_rank(daemon, rank))
      return not_its_rank(daemon, rank);
  if (events.sound)
    sound.insert(daemon);
  auto& last = sequences[daemon];
  if (events.sequence <= last)
    return run_turn::task::none; // Repeated: the answer got lost.
  last = events.sequence;
  for (const auto& step : events.steps) {
    if (!conductor)
      break; // There is nothing to count before it has begun.
    note_step(step.key);
    step_result told;
    told.key = step.key;
    told.metrics = {step.loss_sum, step.correct, step.seeds};
    told.original_seeds =
      std::make_shared<std::vector<node_id>>(step.original_seeds);
    told.outcomes = step.outcomes;
    if (step.logits && def.evaluate.predict) {
      told.output = std::make_shared<batch_output>();
      told.output->logits = *step.logits;
    }
    post(conductor, told);
  }
  for (auto rank : events.stopped)
    if (conductor)
      post(conductor, trainer_stopped{rank});
  // Others may still hear a daemon that the run does without; if it serves
  // damaged data, that counts.
  if (!events.failure
      || (turn.does_without(daemon)
          && events.failure->code != ec::invalid_data))
    return run_turn::task::none;
  // Who leads the cluster is not for its daemons to say.
  const auto code = events.failure->code == ec::superseded
                      ? ec::unavailable
                      : events.failure->code;
  return fail_run(fail(code, "daemon \"{}\": {}", daemon,
                       events.failure->message.substr(0, longest_failure)));
}

bool active_run::has_rank(const std::string& daemon, rank_id rank) const {
  if (rank < 0 || std::cmp_greater_equal(rank, where.daemon_of_rank.size()))
    return false;
  const auto at = where.daemon_of_rank[static_cast<std::size_t>(rank)];
  return where.daemons[at].name == daemon;
}

/// What the attempt began with is needed until all trainers have something
/// newer: when a rank tells of its second step, all have applied the first one.
void active_run::note_step(const batch_key& key) {
  if (key.phase != phase::train)
    return;
  reached =
    std::max(reached, std::optional{trained_until{key.epoch, key.step + 1}});
  const auto first =
    from && key.epoch == from->at.epoch ? from->at.step : std::int64_t{0};
  if (key.step > first)
    from.reset();
}

void active_run::take(const rendezvous_request& request,
                      const responder& reply) {
  if (request.value) {
    if (auto kept = table.set(request.key, *request.value); !kept)
      reply.reply(kept.error());
    else
      reply.reply(encode_rendezvous_value(std::nullopt));
  } else if (questions.size() >= most_questions) {
    reply.reply(fail(ec::unavailable,
                     "{} questions wait for keys of run {} already",
                     questions.size(), id));
  } else {
    questions.push_back(
      {request.key, reply,
       clock::now()
         + std::min(request.wait, timeouts::longest_rendezvous_wait)});
  }
  answer_questions(clock::now());
}

void active_run::answer_questions(clock::time_point now) {
  std::erase_if(questions, [this, now](const question& open) {
    if (const auto* value = table.find(open.key))
      open.reply.reply(encode_rendezvous_value(*value));
    else if (now >= open.until)
      open.reply.reply(encode_rendezvous_value(std::nullopt));
    else
      return false;
    return true;
  });
}

void active_run::end_rendezvous() {
  answer_questions(clock::time_point::max());
  table = {};
}

run_observer observer_of(const submitted_run& run,
                         const coordinator_actor& coordinator) {
  run_observer out;
  const auto inner = run.file->reporter().observer();
  const auto predicts = run.def.evaluate.predict;
  out.on_filled = [id = run.id, coordinator, predicts](std::size_t done,
                                                       std::size_t of) {
    run_news news;
    news.label = predicts ? "putting nodes in order" : "filling caches";
    news.done = done;
    news.total = of;
    post(coordinator, run_news_came{id, std::move(news)});
  };
  // The observer is called by one actor, so it may have a state.
  auto last = std::make_shared<active_run::clock::time_point>();
  out.on_step =
    [id = run.id, coordinator, last, work = work_without_training(run.def)](
      const phase_request& request, std::int64_t done, const batch_metrics&) {
      const auto now = active_run::clock::now();
      if (done != request.steps && now - *last < timeouts::progress)
        return;
      *last = now;
      post(coordinator, run_news_came{id, news_of(request, done, work)});
    };
  out.on_phase = [id = run.id, coordinator, file = run.file,
                  inner](const phase_result& done) -> result<void> {
    run_news news;
    news.metrics = metrics_json(done).dump();
    post(coordinator, run_news_came{id, std::move(news)});
    return inner.on_phase(done);
  };
  // Pieces of a pass are no evaluations, and what a run measures that trains
  // nothing is none of its own epochs.
  if (trains_nothing(run.def))
    out.on_phase = {};
  out.on_record = inner.on_record;
  out.on_end = [id = run.id, attempt = run.attempt,
                coordinator](run_outcome outcome) {
    post(coordinator,
         run_ended{id, std::make_shared<run_outcome>(std::move(outcome)),
                   attempt});
  };
  return out;
}

} // namespace graphmill
