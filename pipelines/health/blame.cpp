#include "pipelines/health/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace graphmill {

namespace {

/// Of the workers of a stage that can be to blame at all.
constexpr double least_share = 0.3;
/// A share that is most of it.
constexpr double most_share = 0.5;

/// Seconds. Answers that come sooner are late for nobody: what time there is
/// goes by while small batches are handed from actor to actor.
constexpr double late_answer = 1e-3;

std::string where(const daemon_health& daemon) {
  return daemon.daemon.empty()
           ? std::string{}
           : fmt::format(" at daemon \"{}\"", daemon.daemon);
}

std::string milliseconds_text(double seconds) {
  return fmt::format("{:.{}f} ms", seconds * 1e3, seconds < 0.01 ? 1 : 0);
}

placed first_of(const daemon_health& in, actor_kind kind) {
  const auto found = std::ranges::find(in.actors, kind, &actor_health::kind);
  return found == in.actors.end() ? placed{} : placed{&in, &*found};
}

/// Batches that it has on average, and those that stand in its line.
double batches_held(const actor_health& stage) {
  return occupied(stage) * stage.workers + double(stage.queue);
}

/// What gives a stage more room.
std::string_view remedy_for(actor_kind kind) {
  switch (kind) {
  case actor_kind::sampler:
    return "raise sampler.replicas, or sample at other daemons, too "
           "(placement.samplers)";
  case actor_kind::sampling_service:
    return "raise sampler.threads, or spread its part over more daemons";
  case actor_kind::feature_service:
    return "raise fetch.threads, or spread its part over more daemons";
  case actor_kind::fetcher:
    return "raise fetch.replicas";
  case actor_kind::batch_proxy:
    return "name more daemons in placement.samplers";
  case actor_kind::batcher:
    return "have more trainers with smaller batches, for each has a batcher";
  default:
    return "give it more processors";
  }
}

/// Advice about rows that travel. Without a cache, rows have been counted as
/// they were asked for.
std::string cache_advice(const daemon_health& asker) {
  if (asker.cache_rows_found == 0 && asker.cache_offer_bytes != 0)
    return fmt::format("fetch.cache: {} MiB would have spared at most about "
                       "{:.0f} % of the rows asked for so far",
                       asker.cache_offer_bytes >> 20,
                       percent_of(asker.cache_offer_spared));
  if (asker.cache_rows_found == 0)
    return "keep the rows asked for most where they are needed (fetch.cache; "
           "`graphmill plan --cache` says what that spares)";
  return fmt::format("a larger fetch.cache may help, which finds {:.0f} % of "
                     "the rows now",
                     percent_of(double(asker.cache_rows_found)
                                / double(asker.cache_rows_wanted)));
}

// -- who answers late

/// Who answers the requests of a proxy at the other end; nobody if that end has
/// told nothing.
placed other_end(const run_health& run, const actor_health& proxy) {
  auto kind = actor_kind::sampler;
  if (proxy.kind == actor_kind::sampling_proxy)
    kind = actor_kind::sampling_service;
  else if (proxy.kind == actor_kind::feature_proxy)
    kind = actor_kind::feature_service;
  for (const auto& one : all_of(run, kind))
    if (one.at->daemon == proxy.peer
        && (proxy.part < 0 || one.actor->part == proxy.part))
      return one;
  return {};
}

/// @param latest Who answers later than all others that are asked.
verdict blame_nobody(const placed& latest) {
  auto out = verdict_saying(
    "", fmt::format("no stage is slow: the {} answers within 1 ms; batches "
                    "are so small that handing them over takes most of the "
                    "time, and a larger train.batch_size would help",
                    title_of(latest)));
  out.evidence.push_back(latency_of(latest));
  return out;
}

verdict blame_service(const placed& service) {
  const auto limit = title_of(service);
  const auto& actor = *service.actor;
  if (occupied(actor) < most_share && actor.mean_latency < late_answer)
    return blame_nobody(service);
  auto out = verdict_saying(
    limit,
    occupied(actor) >= most_share
      ? fmt::format("the {} limits: its workers are busy {:.0f} % of the "
                    "time; {}",
                    limit, percent_of(actor.busy), remedy_for(actor.kind))
      : fmt::format("the {} answers late, {} after it was asked on average, "
                    "though its workers are busy only {:.0f} % of the time; "
                    "see what else its machine does",
                    limit, milliseconds_text(actor.mean_latency),
                    percent_of(actor.busy)));
  out.evidence.push_back(latency_of(service));
  return out;
}

verdict blame_proxy(const run_health& run, const placed& proxy) {
  const auto& actor = *proxy.actor;
  const auto there = other_end(run, actor);
  const auto rows = actor.kind == actor_kind::feature_proxy;
  if (there && 2 * there.actor->mean_latency >= actor.mean_latency) {
    auto out = blame_service(there);
    out.evidence.push_back(latency_of(proxy));
    if (rows)
      out.sentence += fmt::format("; or {}", cache_advice(*proxy.at));
    return out;
  }
  if (actor.mean_latency < late_answer)
    return blame_nobody(proxy);
  auto out = verdict_saying(
    fmt::format("link of daemon \"{}\" to daemon \"{}\"", proxy.at->daemon,
                actor.peer),
    fmt::format(
      "the link of daemon \"{}\" to daemon \"{}\" limits: an answer "
      "takes {}, {}; {}",
      proxy.at->daemon, actor.peer, milliseconds_text(actor.mean_latency),
      there ? fmt::format("{} of it at the other end",
                          milliseconds_text(there.actor->mean_latency))
            : std::string{"and the other end has told nothing"},
      rows ? cache_advice(*proxy.at)
           : std::string{"partition with fewer edges cut, or name "
                         "the owner in placement.samplers"}));
  out.evidence.push_back(latency_of(proxy));
  return out;
}

/// The slowest of those that a stage asks; nobody if none has answered.
placed slowest_asked(const daemon_health& in, actor_kind stage) {
  std::vector<actor_kind> asked;
  if (stage == actor_kind::sampler)
    asked = {actor_kind::sampling_service, actor_kind::sampling_proxy};
  else if (stage == actor_kind::fetcher)
    asked = {actor_kind::feature_service, actor_kind::feature_proxy};
  else if (stage == actor_kind::batch_proxy)
    asked = {actor_kind::batch_link, actor_kind::sampler};
  placed out;
  for (const auto& actor : in.actors)
    if (actor.answers != 0
        && std::ranges::find(asked, actor.kind) != asked.end()
        && (!out || actor.mean_latency > out.actor->mean_latency))
      out = {&in, &actor};
  return out;
}

// -- why the trainers of a daemon starve

verdict blame_stage(const run_health& run, const placed& stage) {
  const auto& actor = *stage.actor;
  if (actor.waiting > actor.busy) {
    const auto slow = slowest_asked(*stage.at, actor.kind);
    if (slow) {
      const auto local = slow.actor->kind == actor_kind::sampling_service
                         || slow.actor->kind == actor_kind::feature_service;
      auto out = local ? blame_service(slow)
                 : slow.actor->kind == actor_kind::sampler
                   ? blame_stage(run, slow)
                   : blame_proxy(run, slow);
      out.evidence.push_back(shares_of(stage));
      return out;
    }
    return verdict_saying(
      title_of(stage),
      fmt::format("the {} limits: it waits {:.0f} % of the time "
                  "for answers of others",
                  title_of(stage), percent_of(actor.waiting)));
  }
  auto out = verdict_saying(title_of(stage),
                            fmt::format("the {} limits: its workers are busy "
                                        "{:.0f} % of the time; {}",
                                        title_of(stage), percent_of(actor.busy),
                                        remedy_for(actor.kind)));
  out.evidence.push_back(shares_of(stage));
  return out;
}

/// Which limit of credit batches have run into; empty if none.
///
/// One had to wait for bytes only if those in flight and its bound were more
/// than the budget, so that one of the two was more than half of it. Both were
/// reserved at some time.
std::string_view credit_lacking(const actor_health& dispatcher) {
  const auto batches = dispatcher.peak_batches != 0
                       && dispatcher.peak_batches >= dispatcher.most_batches;
  const auto bytes = dispatcher.peak_bytes > dispatcher.most_bytes / 2;
  return batches && bytes ? "budget.batches or .bytes"
         : batches        ? "budget.batches"
         : bytes          ? "budget.bytes"
                          : "";
}

verdict blame_credit(const placed& dispatcher, std::string_view lacking) {
  const auto& actor = *dispatcher.actor;
  auto out = verdict_saying(
    fmt::format("credit{}", where(*dispatcher.at)),
    fmt::format("credit limits{}: batches wait for it {:.0f} % of the time, "
                "and no stage is full; raise {}",
                where(*dispatcher.at), percent_of(actor.stalled), lacking));
  out.evidence.push_back(fmt::format(
    "at the most {} of {} batches and {:.1f} of {:.1f} MB were in flight",
    actor.peak_batches, actor.most_batches, double(actor.peak_bytes) * 1e-6,
    double(actor.most_bytes) * 1e-6));
  return out;
}

/// How long trainers starve of a daemon that has batches to dispatch.
double starved_at_work(const daemon_health& in, const placed& dispatcher) {
  double most = 0;
  for (const auto& actor : in.actors)
    if (actor.kind == actor_kind::trainer)
      most = std::max(most, actor.starved);
  return dispatcher ? most - dispatcher.actor->starved : most;
}

} // namespace

std::vector<placed> all_of(const run_health& run, actor_kind kind) {
  std::vector<placed> out;
  for (const auto& daemon : run.daemons)
    for (const auto& actor : daemon.actors)
      if (actor.kind == kind)
        out.push_back({&daemon, &actor});
  return out;
}

std::string title_of(const placed& who) {
  const auto& actor = *who.actor;
  std::string out{to_string(actor.kind)};
  if (actor.part >= 0)
    out += fmt::format(" of part {}", actor.part);
  if (actor.rank >= 0)
    out += fmt::format(" of rank {}", actor.rank);
  return out + where(*who.at);
}

std::string shares_of(const placed& who) {
  const auto& actor = *who.actor;
  return fmt::format("{}: busy {:.0f} %, waits {:.0f} % for answers, {:.0f} % "
                     "for input, {:.0f} % for credit",
                     title_of(who), percent_of(actor.busy),
                     percent_of(actor.waiting), percent_of(actor.starved),
                     percent_of(actor.stalled));
}

std::string latency_of(const placed& who) {
  const auto& actor = *who.actor;
  return fmt::format("{}: an answer takes {} on average, {} in 99 of 100 "
                     "cases at the most",
                     title_of(who), milliseconds_text(actor.mean_latency),
                     milliseconds_text(actor.p99_latency));
}

double occupied(const actor_health& stage) {
  return stage.busy + stage.waiting;
}

verdict blame_pipeline(const run_health& run, const daemon_health& in) {
  auto front = first_of(in, actor_kind::batch_proxy);
  if (!front)
    front = first_of(in, actor_kind::sampler);
  placed fullest;
  double all = 0;
  for (const auto& stage : {front, first_of(in, actor_kind::fetcher),
                            first_of(in, actor_kind::batcher)}) {
    if (!stage)
      continue;
    all += batches_held(*stage.actor);
    if (!fullest || batches_held(*stage.actor) > batches_held(*fullest.actor))
      fullest = stage;
  }
  const auto dispatcher = first_of(in, actor_kind::dispatcher);
  if (fullest
      && (occupied(*fullest.actor) >= full_share
          || (occupied(*fullest.actor) >= least_share
              && batches_held(*fullest.actor) >= most_share * all)))
    return blame_stage(run, fullest);
  if (starved_at_work(in, dispatcher) < worth_naming)
    return verdict_saying(
      "",
      fmt::format("trainers{} starve only while there are no batches to "
                  "make: at the beginning, between phases, while a loop "
                  "takes none, or while the run waits for its coordinator",
                  where(in)));
  if (dispatcher && dispatcher.actor->stalled >= worth_naming)
    if (const auto lacking = credit_lacking(*dispatcher.actor);
        !lacking.empty())
      return blame_credit(dispatcher, lacking);
  return verdict_saying(
    "", fmt::format("trainers{} starve, but no stage is full and "
                    "credit is there: there is little to do",
                    where(in)));
}

} // namespace graphmill
