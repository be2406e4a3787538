#include "pipelines/health/verdict.hpp"

#include "pipelines/health/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace graphmill {

namespace {

// -- the trainers

/// Whether others wait for this one: it waits least, and they much more.
placed straggler_of(const std::vector<placed>& trainers) {
  const auto less = [](const placed& a, const placed& b) {
    return a.actor->waiting < b.actor->waiting;
  };
  const auto [least, longest] = std::ranges::minmax_element(trainers, less);
  const auto wait = longest->actor->waiting;
  if (wait >= worth_naming && least->actor->waiting < wait / 2)
    return *least;
  return {};
}

double average(const std::vector<placed>& of, double actor_health::*share) {
  double sum = 0;
  for (const auto& one : of)
    sum += one.actor->*share;
  return of.empty() ? 0 : sum / double(of.size());
}

/// Of the processors that trainers which compute would use.
constexpr double idle_share = 0.3;

/// The processors that the daemons of trainers use, if these cannot be
/// computing there for as long as they are busy.
std::optional<double> idle_cores(const run_health& run, double busy) {
  double cores = 0;
  for (const auto& daemon : run.daemons) {
    const auto trains =
      std::ranges::any_of(daemon.actors, [](const actor_health& actor) {
        return actor.kind == actor_kind::trainer;
      });
    if (!trains)
      continue;
    if (daemon.cores == 0) // Nothing has been measured yet.
      return std::nullopt;
    cores += daemon.cores;
  }
  const auto count = double(all_of(run, actor_kind::trainer).size());
  if (cores >= idle_share * busy * count)
    return std::nullopt;
  return cores;
}

verdict balanced_or_arithmetic(const run_health& run, double busy) {
  for (auto kind : {actor_kind::sampler, actor_kind::batch_proxy,
                    actor_kind::fetcher, actor_kind::batcher})
    for (const auto& stage : all_of(run, kind))
      if (occupied(*stage.actor) >= full_share && busy >= full_share) {
        auto out =
          verdict_saying("none", "well balanced: the trainers and the stages "
                                 "before them have no time to spare");
        out.evidence.push_back(shares_of(stage));
        return out;
      }
  if (const auto cores = idle_cores(run, busy))
    return verdict_saying(
      "trainer",
      fmt::format("the trainers are the limit: they are busy {:.0f} % of the "
                  "time with {:.1f} processors; look for other programs and "
                  "busy devices on their machines",
                  percent_of(busy), *cores));
  return verdict_saying(
    "trainer", fmt::format("the trainers' arithmetic is the limit: they are "
                           "busy {:.0f} % of the time; more trainers, "
                           "trainer.threads or a faster trainer.device would "
                           "help",
                           percent_of(busy)));
}

/// A worker that is not there does nothing: whatever waits for it, waits for
/// that.
placed dying_actor(const run_health& run) {
  placed out;
  for (const auto& daemon : run.daemons)
    for (const auto& actor : daemon.actors)
      if (actor.recent_restarts != 0 && actor.down >= worth_naming
          && (!out || actor.down > out.actor->down))
        out = {&daemon, &actor};
  return out;
}

verdict blame_dying(const placed& dying) {
  auto out = verdict_saying(
    title_of(dying), fmt::format("the {} limits: {} of its workers died "
                                 "lately, and it lacks them {:.0f} % of the "
                                 "time",
                                 title_of(dying), dying.actor->recent_restarts,
                                 percent_of(dying.actor->down)));
  if (!dying.actor->last_error.empty())
    out.evidence.push_back(dying.actor->last_error);
  return out;
}

verdict blame_exchange(const run_health& run, double waiting) {
  auto out = verdict_saying(
    "gradient group",
    fmt::format("the exchange of gradients limits: all trainers wait {:.0f} "
                "% of the time for it; larger batches or a smaller model "
                "exchange less",
                percent_of(waiting)));
  for (const auto& group : all_of(run, actor_kind::gradient_group))
    if (group.actor->answers != 0) {
      out.evidence.push_back(latency_of(group));
      break;
    }
  return out;
}

/// Whether its conductor knows of steps: reports of daemons come later.
bool has_steps(const run_health& run) {
  return run.progress
         && (run.progress->epoch > 0 || run.progress->step > 0
             || run.progress->phase != phase::train);
}

/// Seconds at the first batch that are worth naming.
constexpr double long_begin = 3;

/// Who has been longest at one piece of work, of those who make batches and
/// learn from them; nobody if that is not long.
placed slow_beginner(const run_health& run) {
  placed out;
  for (const auto& daemon : run.daemons)
    for (const auto& actor : daemon.actors)
      if (actor.state == actor_state::running && actor.in_state >= long_begin
          && actor.kind != actor_kind::conductor
          && (!out || actor.in_state > out.actor->in_state))
        out = {&daemon, &actor};
  return out;
}

verdict before_training(const run_health& run) {
  if (has_steps(run))
    return verdict_saying("", "no daemon has told of a trained batch yet");
  const auto slow = slow_beginner(run);
  if (!slow)
    return verdict_saying("", "no batch has been trained yet");
  return verdict_saying(
    title_of(slow),
    fmt::format("no batch has been trained yet: the {} has been at work "
                "for {:.0f} s",
                title_of(slow), slow.actor->in_state));
}

} // namespace

bool tells_of_training(const run_health& run) {
  return std::ranges::any_of(
    all_of(run, actor_kind::trainer),
    [](const placed& one) { return one.actor->items != 0; });
}

verdict verdict_of(const run_health& run) {
  if (!run.silent.empty())
    return verdict_saying(
      fmt::format("daemon \"{}\"", run.silent.front()),
      fmt::format("nothing is heard of {}: see whether {} there",
                  fmt::join(run.silent, ", "),
                  run.silent.size() == 1 ? "it is" : "they are"));
  const auto trainers = all_of(run, actor_kind::trainer);
  if (!tells_of_training(run))
    return before_training(run);
  const auto busy = average(trainers, &actor_health::busy);
  const auto starved = average(trainers, &actor_health::starved);
  const auto waiting = average(trainers, &actor_health::waiting);
  const auto add_trainers = [&](verdict out) {
    out.evidence.insert(out.evidence.begin(),
                        fmt::format("trainers: busy {:.0f} %, starve {:.0f} "
                                    "%, wait {:.0f} % for each other",
                                    percent_of(busy), percent_of(starved),
                                    percent_of(waiting)));
    return out;
  };
  // Workers that die while trainers have all that they need limit nothing.
  if (const auto dying = dying_actor(run);
      dying && (starved >= worth_naming || waiting >= worth_naming))
    return add_trainers(blame_dying(dying));
  if (const auto slow = straggler_of(trainers)) {
    if (slow.actor->starved >= worth_naming)
      return add_trainers(blame_pipeline(run, *slow.at));
    return add_trainers(verdict_saying(
      title_of(slow),
      fmt::format("the {} limits: the others wait for it {:.0f} % of "
                  "the time; give its daemon fewer trainers, or more "
                  "processors",
                  title_of(slow), percent_of(waiting))));
  }
  // Trainers with little time to spare gain little by a faster pipeline.
  if (starved >= worth_naming && starved >= waiting && busy < full_share) {
    const auto hungriest = *std::ranges::max_element(
      trainers, {}, [](const placed& one) { return one.actor->starved; });
    return add_trainers(blame_pipeline(run, *hungriest.at));
  }
  if (waiting >= worth_naming)
    return add_trainers(blame_exchange(run, waiting));
  return add_trainers(balanced_or_arithmetic(run, busy));
}

} // namespace graphmill
