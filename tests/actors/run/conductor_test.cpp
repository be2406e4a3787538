#include "actors/run/conductor.hpp"
#include "actors/run/member.hpp"

#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"

#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <utility>

namespace graphmill::test {

namespace {

memory_graph ring(std::int64_t nodes) {
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
    CATCH_REQUIRE(ended.wait_for(patience) == std::future_status::ready);
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
    observer.on_step = [&](const phase_request&, std::int64_t) {
      if (++steps == 10)
        stepped.set_value();
    };
    return run([&](const conductor_actor& conductor) {
      post(conductor, start_run{});
      stepped.get_future().wait_for(patience);
      lead(conductor);
    });
  }
};

} // namespace

CATCH_TEST_CASE("a run goes through its epochs to the same weights again",
                "[actors][conductor]") {
  std::string digest;
  for (auto crash_every : {0u, 5u}) {
    conductor_scene f;
    f.def.faults.crash_every = crash_every;
    const auto outcome = f.run_through();
    CATCH_REQUIRE_FALSE(outcome.failure);
    CATCH_CHECK(outcome.train_steps == 12);
    CATCH_REQUIRE(f.phases.size() == 3);
    for (std::int32_t epoch = 0; epoch < 3; ++epoch) {
      const auto& done = f.phases[static_cast<std::size_t>(epoch)];
      CATCH_CHECK(done.epoch == epoch);
      CATCH_CHECK(done.metrics.seeds == 20);
      CATCH_CHECK(done.steps == 4);
    }
    CATCH_REQUIRE(outcome.parameters != nullptr);
    if (digest.empty())
      digest = outcome.digest;
    CATCH_CHECK(outcome.digest == digest);
  }
}

CATCH_TEST_CASE("a run leaves a checkpoint at every epoch's edge",
                "[actors][conductor]") {
  conductor_scene f;
  f.keep_checkpoints(0);
  CATCH_REQUIRE_FALSE(f.run_through().failure);
  // One at a time: an edge that comes too soon does without, but for the last.
  CATCH_REQUIRE(!f.checkpoints.empty());
  CATCH_CHECK(f.checkpoints.size() <= 3);
  std::int32_t epoch = 0;
  for (const auto& made : f.checkpoints) {
    CATCH_REQUIRE(made.tensors != nullptr);
    CATCH_CHECK(made.at.epoch > std::exchange(epoch, made.at.epoch));
    // It may have got a step of the epoch that follows.
    CATCH_CHECK(made.at.train_steps == made.at.epoch * 4 + made.at.step);
    CATCH_CHECK(made.so_far.seeds
                == std::min<std::int64_t>(made.at.step * 6, 20));
  }
  CATCH_CHECK(f.checkpoints.back().at == course_position{3, 0, 12, {}, 0});
}

CATCH_TEST_CASE(
  "a run that goes on from a checkpoint ends with the same weights",
  "[actors][conductor]") {
  conductor_scene whole;
  whole.validation = GENERATE(false, true);
  whole.def.optimizer.schedule = schedule_kind::cosine;
  whole.keep_checkpoints(1);
  const auto expected = whole.run_through();
  CATCH_REQUIRE_FALSE(expected.failure);
  CATCH_REQUIRE(!whole.checkpoints.empty());
  for (const auto& left : whole.checkpoints) {
    CATCH_INFO("epoch " << left.at.epoch << ", step " << left.at.step);
    conductor_scene rest;
    rest.validation = whole.validation;
    rest.def.optimizer.schedule = schedule_kind::cosine;
    rest.def.faults.crash_every = 5;
    rest.from = left;
    const auto outcome = rest.run_through();
    CATCH_REQUIRE_FALSE(outcome.failure);
    CATCH_CHECK(outcome.digest == expected.digest);
    CATCH_CHECK(outcome.train_steps == 12);
    CATCH_CHECK(outcome.best_validation == expected.best_validation);
    // The metrics of what is left are the same, to the bit.
    CATCH_REQUIRE(rest.phases.size() <= whole.phases.size());
    const auto skipped = whole.phases.size() - rest.phases.size();
    for (std::size_t p = 0; p < rest.phases.size(); ++p) {
      const auto& one = rest.phases[p];
      const auto& other = whole.phases[skipped + p];
      CATCH_CHECK(one.epoch == other.epoch);
      CATCH_CHECK(one.steps == other.steps);
      CATCH_CHECK(one.metrics.loss_sum == other.metrics.loss_sum);
      CATCH_CHECK(one.metrics.seeds == other.metrics.seeds);
    }
  }
}

CATCH_TEST_CASE("a run that is cancelled leaves a checkpoint where it stopped",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.train.epochs = 100000;
  f.keep_checkpoints(0);
  const auto outcome = f.run_ten_steps([](const conductor_actor& conductor) {
    post_urgent(conductor, cancel_run{});
  });
  CATCH_REQUIRE(outcome.failure);
  CATCH_REQUIRE(!f.checkpoints.empty());
  CATCH_CHECK(f.checkpoints.back().at.train_steps == outcome.train_steps);
}

CATCH_TEST_CASE("a state of another model is not gone on from",
                "[actors][conductor]") {
  conductor_scene whole;
  whole.keep_checkpoints(0);
  whole.run_through();
  conductor_scene other;
  other.def.model.hidden = 8;
  other.from = whole.checkpoints.front();
  const auto outcome = other.run_through();
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK_THAT(outcome.failure->message, contains("has shape"));
  CATCH_CHECK(outcome.parameters == nullptr);
}

CATCH_TEST_CASE("caches are filled before the first phase",
                "[actors][conductor]") {
  conductor_scene f;
  f.fill(fake_filler::way::fill);
  std::atomic<int> too_early{0};
  f.observer.on_step = [&](const phase_request&, std::int64_t) {
    too_early += *f.filled ? 0 : 1;
  };
  std::vector<std::size_t> told;
  f.observer.on_filled = [&](std::size_t done, std::size_t of) {
    CATCH_CHECK(of == 1);
    told.push_back(done);
  };
  const auto outcome = f.run_through();
  CATCH_REQUIRE_FALSE(outcome.failure);
  CATCH_CHECK(outcome.train_steps == 12);
  CATCH_CHECK(too_early == 0);
  CATCH_CHECK(told == std::vector<std::size_t>{0, 1});
}

CATCH_TEST_CASE("a cache that cannot be filled fails the run",
                "[actors][conductor]") {
  conductor_scene f;
  f.fill(fake_filler::way::fail);
  const auto outcome = f.run_through();
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->code == ec::unavailable);
  CATCH_CHECK(outcome.failure->message == "no rows come");
  CATCH_CHECK(f.phases.empty());
}

CATCH_TEST_CASE("a run can be stopped while its cache is filled",
                "[actors][conductor]") {
  conductor_scene f;
  f.fill(fake_filler::way::wait);
  const auto outcome = f.run([](const conductor_actor& conductor) {
    post(conductor, start_run{});
    post(conductor, cancel_run{});
  });
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->code == ec::cancelled);
  CATCH_CHECK(outcome.parameters != nullptr);
  CATCH_CHECK(f.phases.empty());
}

CATCH_TEST_CASE("a run that is stopped before it begins keeps its weights",
                "[actors][conductor]") {
  conductor_scene f;
  const auto outcome = f.run([](const conductor_actor& conductor) {
    post_urgent(conductor, cancel_run{});
    post(conductor, start_run{});
  });
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->code == ec::cancelled);
  CATCH_CHECK(outcome.train_steps == 0);
  CATCH_CHECK(outcome.parameters != nullptr);
}

CATCH_TEST_CASE("a run that is stopped ends all ranks after the same step",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.train.epochs = 100000;
  const auto outcome = f.run_ten_steps([](const conductor_actor& conductor) {
    post_urgent(conductor, cancel_run{});
  });
  // Ranks whose weights differ would have made another error of it.
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->code == ec::cancelled);
  CATCH_CHECK(outcome.train_steps >= 5);
  CATCH_CHECK(outcome.parameters != nullptr);
  CATCH_CHECK(outcome.digest.size() == 32);
}

CATCH_TEST_CASE("a run that is stopped at once has no weights",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.train.epochs = 100000;
  const auto outcome = f.run([](const conductor_actor& conductor) {
    post(conductor, start_run{});
    post_urgent(conductor, cancel_run{true});
  });
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->code == ec::cancelled);
  CATCH_CHECK(outcome.parameters == nullptr);
}

CATCH_TEST_CASE("an observer that fails ends the run, with weights",
                "[actors][conductor]") {
  conductor_scene f;
  f.observer.on_phase = [](const phase_result&) -> result<void> {
    return fail(ec::no_space, "the disk is full");
  };
  const auto outcome = f.run_through();
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->message == "the disk is full");
  CATCH_CHECK(outcome.train_steps == 4);
  CATCH_CHECK(outcome.parameters != nullptr);
}

CATCH_TEST_CASE("a run that fails keeps the weights of its last step",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.train.epochs = 100000;
  f.def.trainer.replicas = GENERATE(1u, 2u);
  const auto outcome = f.run_ten_steps([](const conductor_actor& conductor) {
    post(conductor, run_failed{fail(ec::io, "the first trouble")});
    post(conductor, run_failed{fail(ec::internal, "what came of it")});
  });
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->code == ec::io);
  CATCH_CHECK(outcome.failure->message == "the first trouble");
  CATCH_CHECK(outcome.train_steps >= 5);
  CATCH_REQUIRE(outcome.parameters != nullptr);
  CATCH_CHECK(outcome.digest.size() == 32);
}

CATCH_TEST_CASE("a run that diverges keeps its best weights, if any",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.train.epochs = 10;
  f.def.train.batch_size = 20; // So the first epoch ends before the damage.
  f.validation = GENERATE(false, true);
  f.def.optimizer.kind = optimizer_kind::sgd;
  f.def.optimizer.learning_rate = 1e30;
  const auto outcome = f.run_through();
  CATCH_REQUIRE(outcome.failure);
  CATCH_CHECK(outcome.failure->message.find("not a number")
              != std::string::npos);
  CATCH_REQUIRE((outcome.parameters != nullptr) == f.validation);
  if (!f.validation)
    return;
  for (const auto& tensor : *outcome.parameters)
    for (auto value : tensor.values)
      CATCH_CHECK(std::isfinite(value));
}

CATCH_TEST_CASE("a stage that always dies fails the run by name",
                "[actors][conductor]") {
  conductor_scene f;
  f.def.faults.crash_every = 1;
  const auto outcome = f.run_through();
  CATCH_REQUIRE(outcome.failure);
  CATCH_INFO(outcome.failure->message);
  CATCH_CHECK(outcome.failure->message.find("epoch 1, step 1, rank 0")
              != std::string::npos);
  CATCH_CHECK(outcome.failure->message.find("ended on purpose")
              != std::string::npos);
}

} // namespace graphmill::test
