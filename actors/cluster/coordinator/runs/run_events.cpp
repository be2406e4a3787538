#include "actors/cluster/coordinator/runs/run_events.hpp"

#include "actors/base/interfaces.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace graphmill {

namespace {

/// Of what a daemon says about a failure, this much is kept.
constexpr std::size_t longest_failure = 4096;

error not_its_rank(const std::string& daemon, rank_id rank) {
  return fail(ec::permission, "daemon \"{}\" has no rank {}", daemon, rank);
}

bool has_rank(const placement& where, const std::string& daemon, rank_id rank) {
  if (rank < 0 || std::cmp_greater_equal(rank, where.daemon_of_rank.size()))
    return false;
  const auto at = where.daemon_of_rank[static_cast<std::size_t>(rank)];
  return where.daemons[at].name == daemon;
}

result<void> check_ranks(const placement& where, const std::string& daemon,
                         const run_events& events) {
  for (const auto& step : events.steps)
    if (!has_rank(where, daemon, step.key.rank))
      return not_its_rank(daemon, step.key.rank);
  for (const auto rank : events.stopped)
    if (!has_rank(where, daemon, rank))
      return not_its_rank(daemon, rank);
  return ok();
}

/// What the attempt began with is needed until all trainers have something
/// newer: when a rank tells of its second step, all have applied the first one.
void note_step(submitted_run& run, const batch_key& key) {
  if (key.phase != phase::train)
    return;
  run.on.reached = std::max(
    run.on.reached, std::optional{trained_until{key.epoch, key.step + 1}});
  const auto first = run.from && key.epoch == run.from->at.epoch
                       ? run.from->at.step
                       : std::int64_t{0};
  if (key.step > first)
    run.from.reset();
}

void pass_on(submitted_run& run, const run_events& events) {
  if (!run.on.conductor)
    return; // There is nothing to count before it has begun.
  for (const auto& step : events.steps) {
    note_step(run, step.key);
    step_result told;
    told.key = step.key;
    told.metrics = {step.loss_sum, step.correct, step.seeds};
    told.original_seeds =
      std::make_shared<std::vector<node_id>>(step.original_seeds);
    told.outcomes = step.outcomes;
    if (step.logits && run.def.evaluate.predict) {
      told.output = std::make_shared<batch_output>();
      told.output->logits = *step.logits;
    }
    run.on.conductor->take(std::move(told));
  }
  for (const auto rank : events.stopped)
    run.on.conductor->stopped(rank);
}

} // namespace

result<attempt::task> accept_events(submitted_run& run,
                                    const std::string& daemon,
                                    const run_events& events) {
  const auto& life = run.life;
  const auto breaks =
    life.now() == attempt::state::ending && life.again() && events.failure;
  if ((life.is_over() && !breaks)
      || (events.attempt != 0 && events.attempt != run.attempts))
    return fail(ec::not_found, "{} of run {} is over",
                events.attempt == 0 ? std::string{"this attempt"}
                                    : fmt::format("attempt {}", events.attempt),
                run.id);
  GRAPHMILL_TRYV(check_ranks(run.on.where, daemon, events));
  if (events.sound)
    run.on.sound.insert(daemon);
  auto& last = run.on.sequences[daemon];
  if (events.sequence <= last)
    return attempt::task::none; // Repeated: the answer got lost.
  last = events.sequence;
  pass_on(run, events);
  // Others may still hear a daemon that the run does without; if it serves
  // damaged data, that counts.
  if (!events.failure
      || (life.does_without(daemon)
          && events.failure->code != ec::invalid_data))
    return attempt::task::none;
  // Who leads the cluster is not for its daemons to say.
  const auto code = events.failure->code == ec::superseded
                      ? ec::unavailable
                      : events.failure->code;
  return run.fail_run(fail(code, "daemon \"{}\": {}", daemon,
                           events.failure->message.substr(0, longest_failure)));
}

deployment deployment_of(const submitted_run& run, std::size_t daemon,
                         const std::string& dataset_digest,
                         const std::string& coordinator) {
  const auto& where = run.on.where;
  deployment out;
  out.run = run.id;
  out.generation = run.attempts - 1;
  out.def = sized(run.def, run.trainers());
  out.dataset_digest = dataset_digest;
  out.daemons = where.daemons;
  out.owner_of_part = where.owner_of_part;
  out.daemon_of_rank = where.daemon_of_rank;
  out.you = static_cast<std::uint16_t>(daemon);
  out.coordinator = coordinator;
  out.samplers = where.samplers;
  out.replicas_of_part = where.replicas_of_part;
  out.feed = run.is_feed();
  if (const auto& learnt = run.view.learnt)
    out.learnt = learnt_labels{std::string{to_string(learnt->kind)},
                               learnt->type, learnt->count};
  return out;
}

} // namespace graphmill
