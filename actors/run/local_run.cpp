#include "actors/run/local_run.hpp"

#include "actors/base/caf_compat.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/process/heap_trimmer.hpp"
#include "actors/process/memory_probe.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/shutdown_watchdog.hpp"
#include "actors/process/signals.hpp"
#include "actors/run/data_guard.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "pipelines/health/health_sampler.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

std::size_t scheduler_threads(const definition& def) {
  // At least two, so that a long job of one stage does not hold up messages.
  // All processors: while trainers wait for input, nobody else uses them.
  return std::max(
    {2u, usable_processors(), def.sampler.threads, def.fetch.threads});
}

/// How a run ends: as its conductor says, or by the conductor's own death, for
/// nobody else would tell of that.
class run_end {
public:
  explicit run_end(signal_watch& signals) : signals_(signals) {}

  /// Notes the first outcome, and wakes who waits. From any thread.
  void note(run_outcome outcome) {
    if (noted_.exchange(true))
      return;
    outcome_.set_value(std::move(outcome));
    signals_.wake();
  }

  /// @param conductor Watched until it ends. This outlives it.
  void watch(const conductor_actor& conductor) {
    caf::actor_cast<caf::actor>(conductor)->attach_functor(
      [this](const caf::error& reason) {
        run_outcome lost;
        lost.failure = from_caf(reason, "the conductor");
        note(std::move(lost));
      });
  }

  std::future<run_outcome> future() { return outcome_.get_future(); }

private:
  signal_watch& signals_;
  std::atomic<bool> noted_{false};
  std::promise<run_outcome> outcome_;
};

/// Verifies the data of a run while that goes on, and ends it if they are
/// damaged.
class run_guard {
public:
  run_guard(const local_run_config& config, data_guard::records data,
            const conductor_actor& conductor)
    : data_(std::move(data)), conductor_(conductor),
      sound_(answer_.get_future()),
      guard_(
        {.data = config.data, .verify = config.verify, .log = config.log}) {
    guard_.check(data_, [this, conductor](const result<void>& sound) {
      answer_.set_value(sound);
      if (!sound)
        post(conductor, run_failed{sound.error()});
    });
  }

  /// Looks, now and then, whether the files are as they were, and ends the run
  /// if not: in a long one, more than its last minutes would be lost.
  void look() {
    if (clock::now() < look_at_)
      return;
    look_at_ = clock::now() + timeouts::data_look;
    if (auto same = changed())
      post(conductor_, run_failed{*same});
  }

  /// Why what was trained on are other data than those that were verified.
  std::optional<error> changed() const {
    if (auto same = still_unchanged(data_, replaced_files::pass); !same)
      return same.error();
    return std::nullopt;
  }

  /// Waits for the end of the verification, or for one more signal.
  /// @returns why a run that has come to its end is no success.
  std::optional<error> wait(signal_watch& signals) {
    const auto before = signals.count();
    guard_.hurry();
    while (sound_.wait_for(std::chrono::seconds{0})
           != std::future_status::ready) {
      if (signals.count() != before)
        return fail(ec::cancelled, "stopped by the user before all data were "
                                   "verified");
      signals.wait(timeouts::memory_look);
    }
    if (auto sound = sound_.get(); !sound)
      return sound.error();
    return changed();
  }

private:
  const data_guard::records data_;
  const conductor_actor conductor_;
  clock::time_point look_at_ = clock::now() + timeouts::data_look;
  std::promise<result<void>> answer_;
  std::future<result<void>> sound_;
  data_guard guard_; ///< Last: ends before what its answer uses.
};

/// Waits for the end of the run while handing signals on and looking at memory
/// and data.
run_outcome wait_for_end(signal_watch& signals, memory_probe& memory,
                         run_guard& guard, std::future<run_outcome>& ended,
                         const conductor_actor& conductor, work_watch& watch,
                         spdlog::logger& log) {
  int handed_on = 0;
  heap_trimmer heap;
  while (ended.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
    signals.wait(timeouts::memory_look);
    memory.sample();
    heap.tick();
    guard.look();
    watch.report(log);
    for (; handed_on < signals.count(); ++handed_on) {
      log.info("stopping: {}", handed_on > 0 ? "at once" : "after this step");
      post_urgent(conductor, cancel_run{handed_on > 0});
    }
  }
  return ended.get();
}

void log_end(spdlog::logger& log, const run_result& run) {
  const auto& outcome = run.outcome;
  if (outcome.paused && !outcome.failure) {
    log.info("an attempt has paused after {:.1f} s and {} training steps, to "
             "go on with another number of trainers",
             run.seconds, outcome.train_steps);
    return;
  }
  log.info("run ended after {:.1f} s and {} training steps: {}; digest {}",
           run.seconds, outcome.train_steps,
           outcome.failure ? outcome.failure->message : "all is done",
           outcome.digest.empty() ? "none" : outcome.digest);
}

/// A run is no success if its data changed under it, and one that was cancelled
/// says so, too.
void judge_data(run_outcome& outcome, run_guard& guard, signal_watch& signals) {
  if (!outcome.failure)
    outcome.failure = guard.wait(signals);
  else if (outcome.failure->code == ec::cancelled)
    if (auto damage = guard.changed())
      outcome.failure = damage;
}

/// A conductor that makes the member when it begins, and notes how it ends.
/// @param member, stages, end Outlive it; the member is taken.
conductor_config lead_of(const local_run_config& config,
                         const partitioned_graph& graph, rank_id world,
                         member_config& member, const stage_table& stages,
                         run_end& end) {
  auto out = conductor_of(config, graph, world);
  out.members = [&member, &stages](caf::actor_system& system,
                                   run_reports_actor reports) {
    return std::vector{
      spawn_member(system, std::move(member), stages, std::move(reports))};
  };
  out.observer = config.observer;
  out.observer.on_end = [&end](run_outcome outcome) {
    end.note(std::move(outcome));
  };
  return out;
}

work_report report_of_run(const stage_table& stages, memory_probe& memory,
                          const dispatcher_gauges& gauges, double cpu_seconds) {
  memory.sample();
  auto out = stages.report();
  out.peak_memory_bytes = memory.peak_bytes();
  out.peak_credit_bytes = gauges.peak_bytes;
  out.oversize_batches = gauges.oversize;
  out.retried_batches = gauges.retried;
  out.cpu_seconds = cpu_seconds;
  return out;
}

} // namespace

result<run_result> run_locally(local_run_config config,
                               std::optional<signal_watch>& watch) {
  GRAPHMILL_TRY(const auto seen, partitioned_graph::open(config.data));
  const auto share = member_share::all(config.def, seen);
  settle_threads(config.def, share.ranks.size(), usable_processors());
  GRAPHMILL_TRY(const auto records, records_in(config.data, share.parts));
  // Its seeds are of the files that the records are of.
  GRAPHMILL_TRY(const auto graph,
                as_learnt(reopen(config.data, seen), config.learnt));
  GRAPHMILL_TRY(auto member, prepare_member(config, graph, share));
  GRAPHMILL_TRYV(still_unchanged(records, replaced_files::count));
  if (config.on_prepared)
    GRAPHMILL_TRYV(config.on_prepared());
  const auto gauges = std::make_shared<dispatcher_gauges>();
  member.log = config.log;
  member.gauges = gauges;
  const auto health = member.health;
  auto stages =
    stage_table::of(member.def, share.parts.size(), share.ranks.size());
  stages.disk = member.disk;
  const auto storage = member.storage;
  auto& signals = watch ? *watch : watch.emplace();
  run_end end{signals};
  auto ended = end.future();
  auto lead = lead_of(config, *graph, share.world, member, stages, end);
  config.from.reset(); // The conductor lets go of it once trainers have it.
  memory_probe memory;
  run_result out;
  double cpu_seconds = 0;
  watched_system_config settings;
  set_scheduler(settings, scheduler_threads(config.def));
  std::optional<shutdown_watchdog> watchdog;
  {
    caf::actor_system system{settings};
    const auto began = clock::now();
    const auto cpu_before = process_cpu_seconds();
    auto conductor = spawn_conductor(system, std::move(lead));
    end.watch(conductor);
    run_guard guard{config, records, conductor};
    post(conductor, start_run{});
    config.log->info("run began on {}, {}", config.data.string(),
                     pluralized(graph->part_count(), "part"));
    config.log->info("{}", sentence(storage));
    if (!storage.oversize.empty())
      config.log->info("{}", storage.oversize);
    out.outcome = wait_for_end(signals, memory, guard, ended, conductor,
                               *settings.watch, *config.log);
    health_sampler{}.sample(*health, clock::now(),
                            out.health.daemons.emplace_back());
    judge_data(out.outcome, guard, signals);
    out.seconds = std::chrono::duration<double>(clock::now() - began).count();
    cpu_seconds = process_cpu_seconds() - cpu_before;
    out.health.daemons.back().cores = cpu_seconds / out.seconds;
    log_end(*config.log, out);
    watchdog.emplace(config.log, signals.count() > 1);
    stop_actor(conductor);
    conductor = nullptr;
  }
  watchdog.reset();
  out.actors = health;
  out.work = report_of_run(stages, memory, *gauges, cpu_seconds);
  return out;
}

} // namespace graphmill
