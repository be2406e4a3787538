#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/run/member/batch_sink.hpp"
#include "actors/stages/dispatcher.hpp"
#include "actors/stages/stage_table.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/feed/batch_form.hpp"
#include "pipelines/flow/seed_table.hpp"
#include "pipelines/health/actor_gauge.hpp"
#include "pipelines/planning/storage_decision.hpp"

#include <spdlog/fwd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

class row_reader;
struct disk_counters;

/// How a member reaches what other processes have. All functions are empty in a
/// run of one process.
struct remote_access {
  std::function<sampling_service_actor(caf::actor_system&, part_id)> sampling;
  std::function<feature_service_actor(caf::actor_system&, part_id)> features;
  /// Spawns the gradient group of a rank. Empty: all ranks are in this process.
  std::function<gradient_group_actor(caf::actor_system&, rank_id)> group;
  /// Spawns the filler of the cache that the proxies of `features` look into.
  /// Empty: there is no cache.
  std::function<cache_filler_actor(caf::actor_system&)> cache;
  /// Called with the services of each part here, to offer them to others.
  std::function<void(part_id, sampling_service_actor, feature_service_actor)>
    publish;
  /// Spawns a stage that has batches sampled by other daemons; it may also use
  /// the samplers here. Empty: the samplers here sample all batches.
  std::function<sampler_actor(caf::actor_system&, sampler_actor here)> sampler;
  /// Called with the samplers here, to offer them to others. Empty: they serve
  /// the trainers here alone.
  std::function<void(sampler_actor)> publish_sampler;
};

/// How long a request to the trainers may take. Orders come between phases, so
/// the limit is longer than any job that a trainer can have at hand. Filling a
/// cache takes as long as there are rows to fetch: it fails when a request of
/// the filler exceeds a limit of its own, or when a daemon is lost, so the
/// limit here is only there because every wait has one.
std::chrono::milliseconds patience_for(trainer_action action);

/// The same once a run has failed, if it has. One who has cancelled a run waits
/// for its weights as for those of a success.
std::chrono::milliseconds patience_for(trainer_action action,
                                       const std::optional<error>& failure);

/// How many batches other daemons sample at the same time for a member with
/// that many trainers.
std::uint32_t batches_elsewhere(const definition& def, std::size_t trainers);

/// What one process does of a run.
struct member_config {
  /// The run's definition. If parts are on disk, with a lower budget and more
  /// workers, as these wait more than they work.
  definition def;
  std::shared_ptr<const partitioned_graph> graph;
  /// By part. Null: another process serves it.
  std::vector<std::shared_ptr<const shard>> shards;
  storage_decision storage; ///< Where `shards` are read from.
  /// By part; null for parts elsewhere or without features. None at all if the
  /// parts are in memory.
  std::vector<std::shared_ptr<row_reader>> row_readers;
  std::shared_ptr<disk_counters> disk; ///< Null: all is in memory.
  rank_id world = 1;                   ///< Trainers of the run in all.
  std::vector<rank_id> ranks;          ///< Of the trainers here, ascending.
  /// Spawns what takes the batches. Not called without ranks.
  sink_factory sink;
  std::vector<std::shared_ptr<replica>> models; ///< One per rank that trains.
  batch_needs needs; ///< What the sink reads of a batch.
  /// How batches are laid out. None: as our trainers read them.
  std::optional<batch_form> form;
  /// Whether seeds are shuffled in each epoch. None: those of training are.
  std::optional<bool> shuffled;
  std::shared_ptr<const sampling_scheme> train_scheme;
  std::shared_ptr<const sampling_scheme> evaluate_scheme;
  /// Global ids of nodes to evaluate in place of a split's seeds. Null: the
  /// seeds of the split.
  std::shared_ptr<const std::vector<node_id>> seeds;
  /// Edges to predict in place of a split's. Null: those of the split.
  std::shared_ptr<const seed_table> rows;
  /// Of a task of edges: the split that each phase draws from in place of its
  /// own.
  std::optional<split> evaluated;
  /// Of a task of links, where there are trainers; else null.
  std::shared_ptr<const link_negatives> negatives;
  bool outputs = false; ///< Ask for predictions and embeddings.
  remote_access access;
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<spdlog::logger> log;
  std::shared_ptr<dispatcher_gauges> gauges;
  /// What its actors tell of themselves, for the reports of health.
  std::shared_ptr<gauge_board> health = std::make_shared<gauge_board>();
};

/// Spawns a MEMBER of a run, which spawns all other actors of the run in this
/// process. Steps, and actors that end unasked, are told to `conductor`.
member_actor spawn_member(caf::actor_system& system, member_config config,
                          stage_table stages, run_reports_actor conductor);

/// The split that a phase draws its seeds from.
split split_of(phase which);

} // namespace graphmill
