#include "actors/stages/training/gradient_group.hpp"
#include "actors/stages/training/late_group.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <map>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

std::shared_ptr<gradient_set> gradients(std::vector<float> values) {
  auto out = std::make_shared<gradient_set>();
  out->dense.append(values);
  return out;
}

struct gradient_group_scene {
  simulation sim;
  gradient_group_actor group;
  std::map<rank_id, reduced_gradients> sums;
  std::vector<error> errors;

  explicit gradient_group_scene(rank_id ranks)
    : group(sim.own(spawn_gradient_group(
      sim.system(),
      {ranks, std::make_shared<stage_counters>("group", 1), {}}))) {}

  void contribute(std::int64_t step, rank_id rank,
                  std::shared_ptr<gradient_set> values) {
    sim.own(sim.system().spawn([=, this](caf::event_based_actor* self) {
      ask(self, group, 1h, contribution{step, rank, values})
        .then([this, rank](const reduced_gradients& sum) { sums[rank] = sum; },
              [this](const caf::error& reason) {
                errors.push_back(from_caf(reason, "group"));
              });
    }));
    sim.run();
  }

  std::vector<float> sum(rank_id rank) const {
    const auto values = sums.at(rank).sum->dense.span();
    return {values.begin(), values.end()};
  }
};

} // namespace

CATCH_TEST_CASE("gradients add up in rank order, whoever comes first",
                "[actors][group]") {
  // Floats: (1e8 + 1) - 1e8 is 0, and (1e8 - 1e8) + 1 is 1.
  const std::vector<std::vector<rank_id>> arrivals{
    {0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}};
  for (const auto& arrival : arrivals) {
    gradient_group_scene f{3};
    for (auto rank : arrival) {
      CATCH_CHECK(f.sums.empty());
      f.contribute(0, rank,
                   gradients({rank == 0   ? 1e8f
                              : rank == 1 ? 1.0f
                                          : -1e8f,
                              0.5f}));
    }
    CATCH_REQUIRE(f.sums.size() == 3);
    for (rank_id rank : {0, 1, 2}) {
      CATCH_CHECK(f.sum(rank) == std::vector{0.0f, 1.5f});
      CATCH_CHECK_FALSE(f.sums[rank].last);
    }
  }
}

CATCH_TEST_CASE("rows of tables are merged in ascending order",
                "[actors][group]") {
  gradient_group_scene f{2};
  auto ours = gradients({});
  auto theirs = gradients({});
  ours->tables.resize(1);
  theirs->tables.resize(1);
  ours->tables[0].rows.append(std::vector<node_id>{1, 4});
  ours->tables[0].values.append(std::vector{1.0f, 4.0f});
  theirs->tables[0].rows.append(std::vector<node_id>{0, 4});
  theirs->tables[0].values.append(std::vector{10.0f, 40.0f});
  f.contribute(0, 1, theirs);
  f.contribute(0, 0, ours);
  const auto& table = f.sums.at(0).sum->tables.at(0);
  const auto rows = table.rows.span();
  const auto values = table.values.span();
  CATCH_CHECK(std::vector(rows.begin(), rows.end())
              == std::vector<node_id>{0, 1, 4});
  CATCH_CHECK(std::vector(values.begin(), values.end())
              == std::vector{10.0f, 1.0f, 44.0f});
}

CATCH_TEST_CASE("steps are kept apart", "[actors][group]") {
  gradient_group_scene f{2};
  f.contribute(7, 0, gradients({1}));
  f.contribute(8, 1, gradients({10}));
  CATCH_CHECK(f.sums.empty());
  f.contribute(7, 1, gradients({2}));
  CATCH_CHECK(f.sum(0) == std::vector{3.0f});
  f.contribute(8, 0, gradients({20}));
  CATCH_CHECK(f.sum(0) == std::vector{30.0f});
}

CATCH_TEST_CASE("a fault holds sums back", "[actors][group]") {
  gradient_group_scene f{2};
  f.group = f.sim.own(spawn_late_group(f.sim.system(), f.group, 100ms));
  for (std::int64_t step : {0, 1}) {
    f.contribute(step, 0, gradients({1}));
    f.contribute(step, 1, gradients({2}));
    f.sim.advance(50ms);
    CATCH_CHECK(f.sums.empty());
    f.sim.advance(100ms);
    CATCH_CHECK(f.sum(0) == std::vector{3.0f});
    CATCH_CHECK(f.sum(1) == std::vector{3.0f});
    f.sums.clear();
  }
}

CATCH_TEST_CASE("a group and the fault before it end together",
                "[actors][group]") {
  for (const bool first : {true, false}) {
    gradient_group_scene f{2};
    const auto group = f.group;
    f.group = f.sim.own(spawn_late_group(f.sim.system(), group, 100ms));
    int deaths = 0;
    f.sim.own(f.sim.system().spawn([&](caf::event_based_actor* self) {
      for (const auto& one : {group, f.group})
        self->monitor(one);
      self->set_down_handler([&](const caf::down_msg&) { ++deaths; });
      return caf::behavior{[](tick) {}};
    }));
    f.contribute(0, 0, gradients({1}));
    stop_actor(first ? f.group : group);
    f.sim.run();
    CATCH_CHECK(deaths == 2);
    CATCH_REQUIRE(f.errors.size() == 1); // What was held is answered.
    CATCH_CHECK(f.errors[0].code == ec::cancelled);
  }
}

CATCH_TEST_CASE("what a fault holds back fails with what ends the group",
                "[actors][group]") {
  gradient_group_scene f{2};
  const auto group = f.group;
  f.group = f.sim.own(spawn_late_group(f.sim.system(), group, 100ms));
  f.contribute(0, 0, gradients({1}));
  caf::anon_send(
    caf::actor_cast<caf::actor>(group),
    caf::exit_msg{group.address(), to_caf(fail(ec::crashed, "it crashed"))});
  f.sim.run();
  CATCH_REQUIRE(f.errors.size() == 1);
  CATCH_CHECK(f.errors[0].code == ec::crashed);
  CATCH_CHECK(f.errors[0].message == "it crashed");
}

CATCH_TEST_CASE("a second contribution and a foreign rank are refused",
                "[actors][group]") {
  gradient_group_scene f{2};
  f.contribute(0, 0, gradients({1}));
  f.contribute(0, 0, gradients({100}));
  f.contribute(0, 2, gradients({100}));
  f.contribute(0, -1, gradients({100}));
  CATCH_REQUIRE(f.errors.size() == 3);
  for (const auto& refused : f.errors)
    CATCH_CHECK(refused.code == ec::invalid_argument);
  CATCH_CHECK(f.errors[0].message
              == "rank 0 has contributed to step 0 already");
  CATCH_CHECK(f.errors[1].message == "rank 2 is not in a group of 2");
  f.contribute(0, 1, gradients({2}));
  CATCH_CHECK(f.sum(0) == std::vector{3.0f});
  CATCH_CHECK(f.sum(1) == std::vector{3.0f});
}

CATCH_TEST_CASE("the sum after a stop is the last one, for all ranks alike",
                "[actors][group]") {
  gradient_group_scene f{2};
  f.contribute(0, 1, gradients({1}));
  post(f.group, stop_after_step{});
  f.sim.run();
  CATCH_CHECK(f.sums.empty());
  f.contribute(0, 0, gradients({1}));
  CATCH_CHECK(f.sums.at(0).last);
  CATCH_CHECK(f.sums.at(1).last);
}

} // namespace graphmill::test
