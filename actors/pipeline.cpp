#include "actors/pipeline.hpp"

#include "actors/batcher.hpp"
#include "actors/feature_service.hpp"
#include "actors/fetcher.hpp"
#include "actors/gradient_group.hpp"
#include "actors/sampler.hpp"
#include "actors/sampling_service.hpp"
#include "actors/trainer.hpp"
#include "actors/worker_pool.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Spawns the pools of a run and remembers them for the end.
class builder {
public:
  builder(caf::actor_system& system, const conductor_config& config,
          const stage_table& stages)
    : system_(system), config_(config), stages_(stages) {}

  template <class Job, class Answer>
  worker_actor<Job, Answer>
  pool(worker_pool_config settings, std::shared_ptr<stage_counters> counters,
       std::function<worker_actor<Job, Answer>(caf::actor_system&)> make) {
    settings.stage = counters->stage();
    settings.crash_every = config_.def.faults.crash_every;
    auto handle = spawn_state<worker_pool<Job, Answer>>(
      system_, std::move(settings), std::move(make), std::move(counters));
    pools_.push_back(caf::actor_cast<caf::actor>(handle));
    return handle;
  }

  std::vector<sampling_service_actor> sampling_services() {
    std::vector<sampling_service_actor> out;
    for (const auto& part : config_.shards) {
      sampling_service_config service{part, config_.pool,
                                      stages_.sampling_service};
      out.push_back(pool<neighbour_job, neighbour_answer>(
        service_pool(config_.def.sampler.threads), service.counters,
        [service](caf::actor_system& system) {
          return spawn_sampling_service(system, service);
        }));
    }
    return out;
  }

  std::vector<feature_service_actor> feature_services() {
    std::vector<feature_service_actor> out;
    for (const auto& part : config_.shards) {
      feature_service_config service{part, stages_.feature_service};
      out.push_back(pool<gather_job, gather_answer>(
        service_pool(config_.def.fetch.threads), service.counters,
        [service](caf::actor_system& system) {
          return spawn_feature_service(system, service);
        }));
    }
    return out;
  }

  sampler_actor samplers() {
    sampler_config sampler;
    sampler.graph = config_.graph;
    sampler.services = sampling_services();
    sampler.chunks = std::max(1u, config_.def.sampler.threads);
    sampler.pool = config_.pool;
    sampler.counters = stages_.sampler;
    worker_pool_config settings;
    settings.workers = config_.def.sampler.replicas;
    settings.idle_is_credit = true;
    return pool<sample_job, sample_answer>(
      settings, stages_.sampler, [sampler](caf::actor_system& system) {
        return spawn_sampler(system, sampler);
      });
  }

  fetcher_actor fetchers(const batch_needs& needs) {
    fetcher_config fetcher;
    fetcher.graph = config_.graph;
    fetcher.services = feature_services();
    fetcher.needs = needs;
    fetcher.chunks = std::max(1u, config_.def.fetch.threads);
    fetcher.pool = config_.pool;
    fetcher.counters = stages_.fetcher;
    worker_pool_config settings;
    settings.workers = config_.def.fetch.replicas;
    return pool<fetch_job, fetch_answer>(
      settings, stages_.fetcher, [fetcher](caf::actor_system& system) {
        return spawn_fetcher(system, fetcher);
      });
  }

  batcher_actor batchers(const batch_needs& needs) {
    batcher_config batcher{config_.graph, needs, config_.pool, stages_.batcher};
    worker_pool_config settings;
    settings.workers = static_cast<std::uint32_t>(config_.models.size());
    return pool<assemble_job, assemble_answer>(
      settings, stages_.batcher, [batcher](caf::actor_system& system) {
        return spawn_batcher(system, batcher);
      });
  }

  std::vector<caf::actor> take_pools() {
    // Spawned from the services up; those who ask end before those who answer.
    std::reverse(pools_.begin(), pools_.end());
    return std::move(pools_);
  }

private:
  worker_pool_config service_pool(std::uint32_t threads) const {
    worker_pool_config settings;
    settings.workers = threads;
    settings.reply_delay_ms = config_.def.faults.reply_delay_ms;
    return settings;
  }

  caf::actor_system& system_;
  const conductor_config& config_;
  const stage_table& stages_;
  std::vector<caf::actor> pools_;
};

std::vector<trainer_actor> spawn_trainers(caf::actor_system& system,
                                          const conductor_config& config,
                                          const stage_table& stages,
                                          const gradient_group_actor& group,
                                          const run_reports_actor& conductor) {
  std::vector<trainer_actor> out;
  for (std::size_t r = 0; r < config.models.size(); ++r) {
    trainer_config trainer;
    trainer.rank = static_cast<rank_id>(r);
    trainer.run_seed = config.def.seed;
    trainer.model = config.models[r];
    trainer.group = group;
    trainer.conductor = conductor;
    trainer.step_delay =
      std::chrono::milliseconds{config.def.faults.trainer_delay_ms};
    trainer.counters = stages.trainer;
    out.push_back(spawn_trainer(system, std::move(trainer)));
  }
  return out;
}

} // namespace

pipeline spawn_pipeline(caf::actor_system& system,
                        const conductor_config& config,
                        const stage_table& stages,
                        const run_reports_actor& conductor) {
  const auto ranks = config.models.size();
  pipeline out;
  out.group = spawn_gradient_group(
    system, {static_cast<rank_id>(ranks), stages.gradient_group});
  out.trainers = spawn_trainers(system, config, stages, out.group, conductor);
  builder build{system, config, stages};
  dispatcher_config dispatcher;
  dispatcher.graph = config.graph;
  dispatcher.run_seed = config.def.seed;
  dispatcher.needs = needs_of(config.def, config.graph->info());
  dispatcher.limits = {config.def.budget.bytes,
                       std::uint64_t{config.def.budget.batches} * ranks};
  dispatcher.sampler = build.samplers();
  dispatcher.fetcher = build.fetchers(dispatcher.needs);
  dispatcher.batcher = build.batchers(dispatcher.needs);
  dispatcher.trainers = out.trainers;
  dispatcher.conductor = conductor;
  dispatcher.log = config.log;
  dispatcher.gauges = config.gauges;
  out.pools = build.take_pools();
  out.dispatcher = spawn_dispatcher(system, std::move(dispatcher));
  return out;
}

void stop_pipeline(pipeline& what) {
  stop_actor(what.dispatcher);
  for (auto& pool : what.pools)
    stop_actor(pool);
  for (auto& trainer : what.trainers)
    stop_actor(trainer);
  stop_actor(what.group);
  what = {};
}

} // namespace graphmill
