#pragma once

#include "actors/stages/batcher.hpp"
#include "actors/stages/dispatcher.hpp"
#include "actors/stages/fetcher.hpp"
#include "actors/stages/sampler.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "tests/actors/stages/stages.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

namespace graphmill::test {

/// A trainer that keeps batches until it is told to finish the oldest.
class dummy_trainer {
public:
  using interface = trainer_actor;
  static constexpr const char* name = "dummy_trainer";
  struct script {
    bool hold = false;
    std::vector<std::uint64_t> sequences;
    std::vector<std::shared_ptr<const phase_work>> works;
    std::vector<caf::typed_response_promise<step_finished>> promises;
  };

  dummy_trainer(interface::pointer self, std::shared_ptr<script> given)
    : self_(self), script_(std::move(given)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const step_input& input) -> caf::result<step_finished> {
        script_->sequences.push_back(input.sequence);
        script_->works.push_back(input.work);
        auto promise = self_->make_response_promise<step_finished>();
        if (script_->hold)
          script_->promises.push_back(promise);
        else
          promise.deliver(step_finished{input.sequence, 0});
        return promise;
      },
      [](const trainer_request&) -> caf::result<trainer_state> {
        return trainer_state{};
      },
      // Told by the test here: finish the oldest batch.
      [this](const job_done&) {
        const auto sequence =
          script_
            ->sequences[script_->sequences.size() - script_->promises.size()];
        auto promise = script_->promises.front();
        script_->promises.erase(script_->promises.begin());
        promise.deliver(step_finished{sequence, 0});
      },
    };
  }

private:
  interface::pointer self_;
  std::shared_ptr<script> script_;
};

/// Someone who is told of failures.
class failure_listener {
public:
  using interface = caf::typed_actor<takes<run_failed>>;
  static constexpr const char* name = "failure_listener";

  failure_listener(interface::pointer,
                   std::shared_ptr<std::vector<error>> heard)
    : heard_(std::move(heard)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const run_failed& failed) { heard_->push_back(failed.reason); }};
  }

private:
  std::shared_ptr<std::vector<error>> heard_;
};

inline memory_graph dispatched_ring() {
  auto graph = cycle(12);
  auto& nodes = graph.nodes.front();
  nodes.width = 2;
  nodes.features.assign(24, 1.0f);
  nodes.labels.assign(12, 0);
  nodes.train.resize(12);
  std::iota(nodes.train.begin(), nodes.train.end(), node_id{0});
  return graph;
}

/// A dispatcher between dummies, over a ring of 12 nodes.
struct dispatcher_scene {
  // Before the actors, which use them until they end.
  std::ostringstream log;
  simulation sim;
  cut_graph data = whole(dispatched_ring());
  led_stage<sample_job, sample_answer> sampler;
  led_stage<fetch_job, fetch_answer> fetcher;
  led_stage<assemble_job, assemble_answer> batcher;
  std::vector<std::shared_ptr<dummy_trainer::script>> trainers;
  std::vector<trainer_actor> trainer_handles;
  std::shared_ptr<std::vector<error>> failures =
    std::make_shared<std::vector<error>>();
  std::shared_ptr<dispatcher_gauges> gauges =
    std::make_shared<dispatcher_gauges>();
  std::shared_ptr<const sampling_scheme> scheme;
  dispatcher_actor dispatcher;

  explicit dispatcher_scene(credit_limits limits = {1 << 30, 100},
                            std::size_t ranks = 1) {
    sampling_scheme whole;
    whole.fanouts = {{-1}};
    scheme = std::make_shared<const sampling_scheme>(whole);
    sampler.spawn(sim, [this](const sample_job& job) {
      return sample_answer{std::make_shared<sampled_subgraph>(value_of(sample(
        *data.graph, data.shards, *job.scheme, job.stream, *job.seeds)))};
    });
    fetcher.spawn(sim, [](const fetch_job&) {
      return fetch_answer{std::make_shared<fetched_batch>()};
    });
    batcher.spawn(sim, [](const assemble_job&) {
      return assemble_answer{std::make_shared<minibatch>()};
    });
    for (std::size_t r = 0; r < ranks; ++r) {
      trainers.push_back(std::make_shared<dummy_trainer::script>());
      trainer_handles.push_back(
        sim.own(spawn_state<dummy_trainer>(sim.system(), trainers.back())));
    }
    dispatcher = sim.own(spawn_dispatcher(sim.system(), config(limits)));
    sim.run();
  }

  dispatcher_config config(credit_limits limits) {
    dispatcher_config out;
    out.graph = data.graph;
    out.limits = limits;
    out.stage_timeout = std::chrono::minutes{1};
    out.patience = std::chrono::seconds{10};
    out.stages = {sampling_by(sampler.handle, out.graph, out.needs),
                  fetching_by(fetcher.handle), assembling_by(batcher.handle)};
    out.trainers = trainer_handles;
    for (rank_id r = 0; r < std::ssize(trainer_handles); ++r)
      out.ranks.push_back(r);
    out.conductor =
      sim.own(spawn_state<failure_listener>(sim.system(), failures));
    out.log = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_st>(log));
    out.gauges = gauges;
    return out;
  }

  void begin(std::int64_t batch_size, std::int32_t epoch = 0) {
    epoch_plan_options options;
    options.batch_size = batch_size;
    options.ranks = static_cast<rank_id>(trainers.size());
    auto work = std::make_shared<phase_work>();
    work->epoch = epoch;
    work->table = table_of(data.graph, split::train);
    work->plan = std::make_shared<const epoch_plan>(
      work->table->rows(), options, 1, phase::train, epoch);
    work->sampling = scheme;
    work->steps = work->plan->steps();
    post(dispatcher, begin_phase{work});
    sim.run();
  }

  /// Begins a phase whose batches wait in `stage` until the test answers.
  template <class Stage>
  void begin_held(Stage& stage, std::int64_t batch_size) {
    stage.script->hold = true;
    begin(batch_size);
  }

  /// What the conductor was told, once.
  const error& failure() const {
    if (failures->size() != 1)
      CATCH_FAIL("the conductor was told of " << failures->size()
                                              << " failures");
    return failures->front();
  }

  void finish_oldest(std::size_t rank) {
    post(trainer_handles[rank], job_done{});
    sim.run();
  }

  std::vector<std::int64_t> sampled_steps() const {
    std::vector<std::int64_t> out;
    for (const auto& job : sampler.jobs())
      out.push_back(job.key.step);
    return out;
  }

  /// The most that a batch of so many seeds may hold.
  std::uint64_t bound(std::int64_t seeds) const {
    const auto& info = data.graph->info();
    return bytes_of(bound_of(info, *scheme, seeds), info, {}, *scheme);
  }
};

// What has come, in its order.
using sequences = std::vector<std::uint64_t>;
using steps = std::vector<std::int64_t>;

} // namespace graphmill::test
