#include "tests/actors/run/conductor_scene.hpp"

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

namespace graphmill::test::conducting {

namespace {

/// None, each kind alone, and all at once.
std::vector<definition::faults_section> kinds_of_faults() {
  std::vector<definition::faults_section> out(5);
  out[1].crash_every = 5;
  out[2].reply_delay_ms = 3;
  auto& slow = out[3];
  slow.trainer_delay_ms = 2;
  slow.sampling_service_delay_ms = 1;
  slow.sampler_delay_ms = 2;
  slow.feature_service_delay_ms = 1;
  slow.fetcher_delay_ms = 2;
  slow.batcher_delay_ms = 2;
  slow.exchange_delay_ms = 2;
  out[4] = slow;
  out[4].crash_every = 7;
  out[4].reply_delay_ms = 3;
  return out;
}

} // namespace

CATCH_TEST_CASE("a run goes through its epochs to the same weights again",
                "[actors][conductor]") {
  std::string digest;
  for (const auto& faults : kinds_of_faults()) {
    conductor_scene f;
    f.def.faults = faults;
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

CATCH_TEST_CASE("caches are filled before the first phase",
                "[actors][conductor]") {
  conductor_scene f;
  f.fill(fake_filler::way::fill);
  std::atomic<int> too_early{0};
  f.observer.on_step = [&](const phase_request&, std::int64_t,
                           const batch_metrics&) {
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

} // namespace graphmill::test::conducting
