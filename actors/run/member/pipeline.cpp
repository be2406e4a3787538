#include "actors/run/member/pipeline.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/base/worker_pool.hpp"
#include "actors/run/member/stage_faults.hpp"
#include "actors/stages/batcher.hpp"
#include "actors/stages/fetcher.hpp"
#include "actors/stages/sampler.hpp"
#include "actors/stages/services/feature_service.hpp"
#include "actors/stages/services/sampling_service.hpp"
#include "messages/base/pluralized.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <bit>

namespace graphmill {

namespace {

/// Adapts a pool to workers that its faults slow.
/// @returns `make` with the faults.
template <class Job, class Answer>
std::function<worker_actor<Job, Answer>(caf::actor_system&)>
install(worker_faults<Job> faults, worker_pool_config& settings,
        const std::shared_ptr<stage_counters>& counters,
        std::function<worker_actor<Job, Answer>(caf::actor_system&)> make) {
  settings.job_timeout += faults.job_delay + faults.reply_delay;
  // A worker whose answer is late holds up no other job. Each may have a
  // thread, so there is a limit.
  constexpr std::uint32_t late_workers = 16, most_workers = 64;
  if (faults.reply_delay.count() != 0)
    settings.workers = std::min(settings.workers * late_workers,
                                std::max(settings.workers, most_workers));
  return with_faults<Job, Answer>(std::move(faults), counters, std::move(make));
}

/// Spawns the pools of a run and remembers them for the end.
class builder {
public:
  builder(caf::actor_system& system, const member_config& config,
          const stage_table& stages)
    : system_(system), config_(config), stages_(stages) {}

  template <class Job, class Answer>
  worker_actor<Job, Answer>
  pool(actor_label label, worker_pool_config settings,
       std::shared_ptr<stage_counters> counters,
       std::function<worker_actor<Job, Answer>(caf::actor_system&)> make,
       worker_faults<Job> faults) {
    settings.stage = counters->stage();
    if (faults.any())
      make = install<Job, Answer>(std::move(faults), settings, counters,
                                  std::move(make));
    settings.gauge = config_.health->add(label, settings.workers);
    // Counters of services are those of all parts here.
    if (label.part < 0)
      settings.gauge->counts_with(counters, settings.asks_others);
    settings.on_death = [log = config_.log, stage = settings.stage,
                         deaths =
                           std::uint64_t{0}](const std::string& why) mutable {
      // As many lines as doublings: a fault may end thousands of workers.
      if (log && std::has_single_bit(++deaths))
        log->warn("{}: {} replaced so far, the last because: {}", stage,
                  pluralized(deaths, "worker"), why);
    };
    return remember<worker_actor<Job, Answer>>(
      spawn_state<worker_pool<Job, Answer>>(
        system_, std::move(settings), std::move(make), std::move(counters)));
  }

  std::vector<sampling_service_actor> sampling_services() {
    std::vector<sampling_service_actor> out;
    for (std::size_t p = 0; p < config_.shards.size(); ++p) {
      const auto& part = config_.shards[p];
      if (!part) {
        out.push_back(
          remember(config_.access.sampling(system_, static_cast<part_id>(p))));
        continue;
      }
      sampling_service_config service{part, config_.pool,
                                      stages_[stage_kind::sampling_service],
                                      config_.storage.from_disk};
      out.push_back(pool<neighbour_job, neighbour_answer>(
        {actor_kind::sampling_service, static_cast<part_id>(p)},
        service_pool(config_.def.sampler.threads), service.counters,
        [service](caf::actor_system& system) {
          return spawn_sampling_service(system, service);
        },
        sampling_service_faults(config_.def.faults)));
    }
    return out;
  }

  std::vector<feature_service_actor> feature_services() {
    std::vector<feature_service_actor> out;
    for (std::size_t p = 0; p < config_.shards.size(); ++p) {
      const auto& part = config_.shards[p];
      if (!part) {
        out.push_back(
          remember(config_.access.features(system_, static_cast<part_id>(p))));
        continue;
      }
      feature_service_config service{part, stages_[stage_kind::feature_service],
                                     rounds_features(config_.def), nullptr,
                                     nullptr};
      if (config_.storage.from_disk) {
        service.rows = config_.row_readers[p];
        service.thread = std::make_shared<compute_thread>(
          gauge_in(system_, fmt::format("the reader of labels of part {}", p)));
      }
      out.push_back(pool<gather_job, gather_answer>(
        {actor_kind::feature_service, static_cast<part_id>(p)},
        service_pool(config_.def.fetch.threads), service.counters,
        [service](caf::actor_system& system) {
          return spawn_feature_service(system, service);
        },
        feature_service_faults(config_.def.faults)));
    }
    return out;
  }

  sampler_actor samplers(std::vector<sampling_service_actor> services) {
    sampler_config sampler;
    sampler.graph = config_.graph;
    sampler.services = std::move(services);
    sampler.chunks = std::max(1u, config_.def.sampler.threads);
    sampler.pool = config_.pool;
    sampler.counters = stages_[stage_kind::sampler];
    worker_pool_config settings;
    settings.workers = config_.def.sampler.replicas;
    settings.job_timeout = timeouts::waiting_stage;
    settings.idle_is_credit = true;
    settings.asks_others = true;
    return pool<sample_job, sample_answer>(
      {actor_kind::sampler}, settings, sampler.counters,
      [sampler](caf::actor_system& system) {
        return spawn_sampler(system, sampler);
      },
      sampler_faults(config_.def.faults));
  }

  sampler_actor samplers_elsewhere(const sampler_actor& here) {
    worker_pool_config settings;
    settings.workers = batches_elsewhere(config_.def, config_.ranks.size());
    settings.job_timeout = timeouts::waiting_stage;
    settings.idle_is_credit = true;
    settings.asks_others = true;
    return pool<sample_job, sample_answer>(
      {actor_kind::batch_proxy}, settings, stages_[stage_kind::batch_proxy],
      [make = config_.access.sampler, here](caf::actor_system& system) {
        return make(system, here);
      },
      batch_proxy_faults(config_.def.faults));
  }

  fetcher_actor fetchers(const batch_needs& needs,
                         std::vector<feature_service_actor> services) {
    fetcher_config fetcher;
    fetcher.graph = config_.graph;
    fetcher.services = std::move(services);
    fetcher.needs = needs;
    fetcher.chunks = std::max(1u, config_.def.fetch.threads);
    fetcher.pool = config_.pool;
    fetcher.counters = stages_[stage_kind::fetcher];
    worker_pool_config settings;
    settings.workers = config_.def.fetch.replicas;
    settings.job_timeout = timeouts::waiting_stage;
    settings.asks_others = true;
    return pool<fetch_job, fetch_answer>(
      {actor_kind::fetcher}, settings, fetcher.counters,
      [fetcher](caf::actor_system& system) {
        return spawn_fetcher(system, fetcher);
      },
      fetcher_faults(config_.def.faults));
  }

  batcher_actor batchers(const batch_needs& needs) {
    batcher_config batcher{config_.graph,
                           needs,
                           config_.form,
                           config_.pool,
                           stages_[stage_kind::batcher],
                           config_.outputs};
    worker_pool_config settings;
    settings.workers = static_cast<std::uint32_t>(config_.ranks.size());
    return pool<assemble_job, assemble_answer>(
      {actor_kind::batcher}, settings, batcher.counters,
      [batcher](caf::actor_system& system) {
        return spawn_batcher(system, batcher);
      },
      batcher_faults(config_.def.faults));
  }

  std::vector<caf::actor> take_pools() {
    // Spawned from the services up; those who ask end before those who answer.
    std::reverse(pools_.begin(), pools_.end());
    return std::move(pools_);
  }

private:
  template <class Handle>
  Handle remember(Handle actor) {
    pools_.push_back(caf::actor_cast<caf::actor>(actor));
    return actor;
  }

  worker_pool_config service_pool(std::uint32_t threads) const {
    worker_pool_config settings;
    settings.workers = threads;
    // A slow disk serves the jobs of several batches one after the other.
    if (config_.storage.from_disk)
      settings.job_timeout = timeouts::waiting_stage;
    return settings;
  }

  caf::actor_system& system_;
  const member_config& config_;
  const stage_table& stages_;
  std::vector<caf::actor> pools_;
};

} // namespace

pipeline spawn_pipeline(caf::actor_system& system, const member_config& config,
                        const stage_table& stages,
                        const run_reports_actor& conductor) {
  pipeline out;
  builder build{system, config, stages};
  auto sampling = build.sampling_services();
  auto features = build.feature_services();
  for (std::size_t p = 0; p < config.shards.size(); ++p)
    if (config.shards[p] && config.access.publish)
      config.access.publish(static_cast<part_id>(p), sampling[p], features[p]);
  out.features = features;
  sampler_actor sampler;
  if (!config.ranks.empty() || config.access.publish_sampler)
    sampler = build.samplers(std::move(sampling));
  if (config.access.publish_sampler)
    config.access.publish_sampler(sampler);
  if (!config.ranks.empty()) {
    auto sink = config.sink(system, config, stages, conductor);
    out.groups = std::move(sink.groups);
    out.trainers = std::move(sink.trainers);
    dispatcher_config dispatcher;
    dispatcher.graph = config.graph;
    dispatcher.run_seed = config.def.seed;
    dispatcher.excludes = config.def.train.exclude == exclusion::pair;
    dispatcher.needs = config.needs;
    dispatcher.limits = {config.def.budget.bytes,
                         std::uint64_t{config.def.budget.batches}
                           * config.ranks.size()};
    if (config.access.sampler)
      sampler = build.samplers_elsewhere(sampler);
    dispatcher.stages = {
      sampling_by(sampler, config.graph, dispatcher.needs),
      fetching_by(build.fetchers(dispatcher.needs, std::move(features))),
      assembling_by(build.batchers(dispatcher.needs)),
    };
    dispatcher.stage_timeout =
      timeouts::stage + std::chrono::seconds{config.def.trainer.step_timeout};
    dispatcher.trainers = out.trainers;
    dispatcher.ranks = config.ranks;
    dispatcher.conductor = conductor;
    dispatcher.log = config.log;
    dispatcher.gauges = config.gauges;
    dispatcher.gauge = config.health->add({actor_kind::dispatcher});
    dispatcher.gauge->gives_credit(dispatcher.limits.items,
                                   dispatcher.limits.bytes);
    out.dispatcher = spawn_dispatcher(system, std::move(dispatcher));
  }
  out.pools = build.take_pools();
  return out;
}

void stop_pipeline(pipeline& spawned) {
  stop_actor(spawned.dispatcher);
  for (auto& pool : spawned.pools)
    stop_actor(pool);
  for (auto& trainer : spawned.trainers)
    stop_actor(trainer);
  for (auto& group : spawned.groups)
    stop_actor(group);
  spawned = {};
}

} // namespace graphmill
