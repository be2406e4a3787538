#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/stages/dispatcher.hpp"
#include "actors/stages/stage_table.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/planning/storage_plan.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace graphmill {

class row_reader;
struct disk_counters;

/// How a member reaches what another process has. Empty in a run of one
/// process.
struct member_links {
  std::function<sampling_service_actor(caf::actor_system&, part_id)> sampling;
  std::function<feature_service_actor(caf::actor_system&, part_id)> features;
  /// The group that a rank adds its gradients in; empty: all are in here.
  std::function<gradient_group_actor(caf::actor_system&, rank_id)> group;
  /// The filler of the cache that `features` look into; empty: there is none.
  std::function<cache_filler_actor(caf::actor_system&)> cache;
  /// Is given the services of the parts here, for others to use.
  std::function<void(part_id, sampling_service_actor, feature_service_actor)>
    publish;
  /// A stage that samples batches elsewhere; it may use the samplers here.
  /// Empty: the samplers here do it all.
  std::function<sampler_actor(caf::actor_system&, sampler_actor here)> sampler;
  /// Is given the samplers here, for others to use. Empty: they are for the
  /// trainers here alone.
  std::function<void(sampler_actor)> publish_sampler;
};

/// How long an order to the trainers may take. Between phases: longer than any
/// job that a trainer can have at hand. Filling a cache takes as long as there
/// are rows to fetch. What fails it is a request of the filler that is not
/// answered within its own limits, or the loss of a daemon; this is only a
/// bound beyond all that.
std::chrono::milliseconds patience_for(trainer_order what);

/// How many batches a member with that many trainers has sampled elsewhere at a
/// time.
std::uint32_t batches_elsewhere(const definition& def, std::size_t trainers);

/// What one process does of a run.
struct member_config {
  /// As the stages here take it: from disk with a lower budget and more stages
  /// than the run's, as they wait more than they work.
  definition def;
  std::shared_ptr<const partitioned_graph> graph;
  /// By part. Null: another process serves it.
  std::vector<std::shared_ptr<const shard>> shards;
  storage_plan storage; ///< Where those are read from.
  /// By part, of those on disk that have features.
  std::vector<std::shared_ptr<row_reader>> row_readers;
  std::shared_ptr<disk_counters> disk; ///< Null: all is in memory.
  rank_id world = 1;                   ///< Trainers of the run in all.
  std::vector<rank_id> ranks;          ///< Of the trainers here, ascending.
  std::vector<std::shared_ptr<replica>> models; ///< One per rank.
  std::shared_ptr<const sampling_plan> train_plan;
  std::shared_ptr<const sampling_plan> evaluate_plan;
  /// Instead of a split's seeds in evaluation: global ids. Null: the split's.
  std::shared_ptr<const std::vector<node_id>> seeds;
  bool outputs = false; ///< Ask for predictions and embeddings.
  member_links links;
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<spdlog::logger> log;
  std::shared_ptr<dispatcher_gauges> gauges;
};

/// Spawns a MEMBER of a run, and it all other actors of the run in this
/// process. Tells `conductor` of steps, and of actors that end unasked.
member_actor spawn_member(caf::actor_system& system, member_config config,
                          stage_table stages, run_reports_actor conductor);

/// The split that a phase draws its seeds from.
split split_of(phase which);

} // namespace graphmill
