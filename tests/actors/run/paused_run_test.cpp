#include "tests/actors/run/conductor_scene.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::conducting {

namespace {

/// A part of a run: until where it goes, with how many trainers.
struct attempt {
  std::uint32_t trainers = 1;
  std::optional<run_point> until = {};
};

struct whole_run {
  std::string digest;
  std::vector<std::int64_t> seeds; ///< By epoch.
};

/// Each attempt goes on from what the one before it has paused with.
whole_run run_in(const std::vector<attempt>& attempts) {
  whole_run out;
  std::optional<training_state> from;
  for (const auto& part : attempts) {
    conductor_scene f;
    f.def.trainer.replicas = part.trainers;
    f.from = std::exchange(from, std::nullopt);
    f.pause_at = part.until;
    auto outcome = f.run_through();
    CATCH_REQUIRE_FALSE(outcome.failure);
    CATCH_REQUIRE(outcome.paused.has_value() == part.until.has_value());
    for (const auto& done : f.phases)
      out.seeds.push_back(done.metrics.seeds);
    from = std::move(outcome.paused);
    out.digest = outcome.digest;
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("a run pauses just where it is told to",
                "[actors][conductor][sizes]") {
  conductor_scene whole;
  const auto expected = whole.run_through();
  CATCH_REQUIRE_FALSE(expected.failure);
  for (const run_point at :
       {run_point{0, 1}, {0, 4}, {1, 0}, {1, 2}, {1, 4}, {2, 0}, {2, 3}}) {
    CATCH_INFO("epoch " << at.epoch << ", step " << at.step);
    conductor_scene f;
    f.pause_at = at;
    auto outcome = f.run_through();
    CATCH_REQUIRE_FALSE(outcome.failure);
    CATCH_REQUIRE(outcome.paused);
    CATCH_CHECK(outcome.parameters == nullptr);
    CATCH_CHECK(
      outcome.paused->at
      == course_position{at.epoch, at.step, at.epoch * 4 + at.step, {}, 0});
    CATCH_CHECK(outcome.paused->so_far.seeds
                == std::min<std::int64_t>(at.step * 6, 20));
    // An epoch that is not over is told by the attempt that ends it.
    CATCH_CHECK(std::cmp_equal(f.phases.size(), at.epoch));
    conductor_scene rest;
    rest.from = std::move(outcome.paused);
    const auto end = rest.run_through();
    CATCH_REQUIRE_FALSE(end.failure);
    CATCH_CHECK_FALSE(end.paused);
    CATCH_CHECK(end.digest == expected.digest);
    CATCH_CHECK(end.train_steps == 12);
  }
}

CATCH_TEST_CASE("a run that is over before it would pause ends as it does",
                "[actors][conductor][sizes]") {
  conductor_scene f;
  f.pause_at = run_point{3, 0};
  const auto outcome = f.run_through();
  CATCH_REQUIRE_FALSE(outcome.failure);
  CATCH_CHECK_FALSE(outcome.paused);
  CATCH_CHECK(outcome.parameters != nullptr);
}

CATCH_TEST_CASE("a run that is told to pause does so at the next epoch's edge",
                "[actors][conductor][sizes]") {
  const auto lead = [](const conductor_actor& conductor) {
    post(conductor, pause_run{});
    post(conductor, start_run{});
  };
  conductor_scene first;
  auto outcome = first.run(lead);
  CATCH_REQUIRE(outcome.paused);
  CATCH_CHECK(outcome.paused->at == course_position{1, 0, 4, {}, 0});
  // Not where it has just begun.
  conductor_scene second;
  second.from = std::move(outcome.paused);
  outcome = second.run(lead);
  CATCH_REQUIRE(outcome.paused);
  CATCH_CHECK(outcome.paused->at == course_position{2, 0, 8, {}, 0});
  // There is no epoch behind the last one.
  conductor_scene last;
  last.from = std::move(outcome.paused);
  outcome = last.run(lead);
  CATCH_REQUIRE_FALSE(outcome.failure);
  CATCH_CHECK_FALSE(outcome.paused);
  CATCH_CHECK(outcome.train_steps == 12);
}

CATCH_TEST_CASE("a checkpoint at an edge does not stand for a pause",
                "[actors][conductor][sizes]") {
  conductor_scene f;
  f.keep_checkpoints(1);
  f.pause_at = run_point{1, 2};
  const auto outcome = f.run_through();
  CATCH_REQUIRE(outcome.paused);
  CATCH_CHECK(outcome.paused->at == course_position{1, 2, 6, {}, 0});
  for (const auto& made : f.checkpoints)
    CATCH_CHECK(made.at.train_steps <= 6);
}

CATCH_TEST_CASE("the same changes of the number of trainers give the same run",
                "[actors][conductor][sizes]") {
  const std::vector<attempt> changes{
    {2, run_point{1, 2}}, {1, run_point{2, 0}}, {3, {}}};
  const auto once = run_in(changes);
  const auto again = run_in(changes);
  CATCH_CHECK(once.digest == again.digest);
  CATCH_CHECK(once.seeds == std::vector<std::int64_t>{20, 20, 20});
  CATCH_CHECK(again.seeds == once.seeds);
}

} // namespace graphmill::test::conducting
