#pragma once

#include "actors/run/conductor.hpp"
#include "actors/run/member/member.hpp"
#include "actors/run/training_sink.hpp"

#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <future>
#include <optional>
#include <utility>

namespace graphmill::test::conducting {

/// A whole run is more than the one thing that others wait for.
inline constexpr auto run_patience = 2 * patience;

inline memory_graph ring(std::int64_t nodes) {
  auto graph = cycle(nodes);
  auto& type = graph.nodes.front();
  type.width = 2;
  for (std::int64_t i = 0; i < nodes; ++i) {
    type.features.push_back(float(i % 3));
    type.features.push_back(1.0f);
    type.labels.push_back(i % 2);
    type.train.push_back(i);
  }
  return graph;
}

/// A cache filler that answers, fails or does neither.
class fake_filler {
public:
  using interface = cache_filler_actor;
  static constexpr const char* name = "fake_filler";
  enum class way { fill, fail, wait };

  fake_filler(interface::pointer self, way how,
              std::shared_ptr<std::atomic<bool>> filled)
    : self_(self), how_(how), filled_(std::move(filled)) {}

  interface::behavior_type make_behavior() {
    return {[this](const fill_cache&) -> caf::result<cache_filled> {
      if (how_ == way::fail)
        return to_caf(fail(ec::unavailable, "no rows come"));
      if (how_ == way::wait) {
        promise_ = self_->make_response_promise<cache_filled>();
        return promise_;
      }
      *filled_ = true;
      return cache_filled{};
    }};
  }

private:
  interface::pointer self_;
  way how_;
  std::shared_ptr<std::atomic<bool>> filled_;
  caf::typed_response_promise<cache_filled> promise_;
};

/// A run over a ring of 20 nodes, on a real scheduler and real threads.
struct conductor_scene {
  cut_graph data = cut(ring(20), 2, random_assignment(ring(20), 2, 1));
  definition def;
  run_observer observer;
  std::vector<phase_result> phases;
  std::vector<training_state> checkpoints;
  std::optional<training_state> from;
  std::optional<run_point> pause_at;
  bool validation = false;
  std::shared_ptr<std::atomic<bool>> filled =
    std::make_shared<std::atomic<bool>>(false);
  std::function<cache_filler_actor(caf::actor_system&)> cache;

  void fill(fake_filler::way how) {
    def.fetch.cache = 1000;
    cache = [this, how](caf::actor_system& system) {
      return spawn_state<fake_filler>(system, how, filled);
    };
  }

  conductor_scene() {
    def = parse_definition("dataset: memory\n"
                           "model: {hidden: 4}\n"
                           "train: {batch_size: 6, epochs: 3}\n"
                           "trainer: {replicas: 2}\n",
                           "test.yaml")
            .value;
    observer.on_phase = [this](const phase_result& done) -> result<void> {
      phases.push_back(done);
      return ok();
    };
  }

  /// Keeps all checkpoints.
  void keep_checkpoints(std::uint32_t every_steps) {
    def.checkpoint.every_steps = every_steps;
    observer.on_checkpoint_due = [](bool) { return true; };
    observer.on_checkpoint = [this](training_state state) {
      checkpoints.push_back(std::move(state));
    };
  }

  member_config member() {
    member_config out;
    out.def = def;
    out.graph = data.graph;
    out.shards = data.shards;
    out.world = static_cast<rank_id>(def.trainer.replicas);
    for (rank_id r = 0; r < out.world; ++r) {
      out.ranks.push_back(r);
      out.models.push_back(value_of(replica::create(def, data.graph->info())));
    }
    out.sink = spawn_training_sink;
    out.needs = needs_of(def, data.graph->info());
    out.access.cache = cache;
    out.train_scheme = std::make_shared<const sampling_scheme>(
      value_of(resolve_fanouts(def, data.graph->info())));
    out.evaluate_scheme = out.train_scheme;
    out.pool = buffer_pool::make(def.budget.bytes);
    out.log = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::null_sink_mt>());
    out.gauges = std::make_shared<dispatcher_gauges>();
    return out;
  }

  conductor_config config(std::promise<run_outcome>& end) {
    conductor_config out{
      def,        static_cast<rank_id>(def.trainer.replicas),
      {20, 0, 0}, course::training(def, validation, false, 4),
      {},         observer};
    out.members = [this](caf::actor_system& system, run_reports_actor reports) {
      const auto parts = static_cast<std::size_t>(data.graph->part_count());
      return std::vector{spawn_member(
        system, member(), stage_table::of(def, parts, def.trainer.replicas),
        std::move(reports))};
    };
    out.from = from;
    out.pause_at = pause_at;
    out.observer.on_end = [&end](run_outcome outcome) {
      end.set_value(std::move(outcome));
    };
    return out;
  }

  /// Runs with `lead` sending what it likes, to the end of all actors.
  run_outcome run(std::function<void(const conductor_actor&)> lead) {
    std::promise<run_outcome> end;
    auto ended = end.get_future();
    caf::actor_system_config settings;
    set_scheduler(settings, 2);
    caf::actor_system system{settings};
    auto conductor = spawn_conductor(system, config(end));
    lead(conductor);
    CATCH_REQUIRE(ended.wait_for(run_patience) == std::future_status::ready);
    stop_actor(conductor);
    return ended.get();
  }

  /// A run that is started, and left alone.
  run_outcome run_through() {
    return run(
      [](const conductor_actor& conductor) { post(conductor, start_run{}); });
  }

  /// One that has gone on for ten steps when `lead` is called.
  run_outcome run_ten_steps(std::function<void(const conductor_actor&)> lead) {
    std::promise<void> stepped;
    std::atomic<int> steps{0};
    observer.on_step = [&](const phase_request&, std::int64_t,
                           const batch_metrics&) {
      if (++steps == 10)
        stepped.set_value();
    };
    return run([&](const conductor_actor& conductor) {
      post(conductor, start_run{});
      stepped.get_future().wait_for(run_patience);
      lead(conductor);
    });
  }
};

} // namespace graphmill::test::conducting
