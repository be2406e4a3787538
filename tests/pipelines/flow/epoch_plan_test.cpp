#include "messages/base/random.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

using namespace graphmill;

namespace {

using lists = std::vector<std::vector<node_id>>;

std::vector<node_id> ids(std::int64_t n, node_id first = 100) {
  std::vector<node_id> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

std::vector<node_id> together(const lists& parts) {
  std::vector<node_id> nodes;
  for (const auto& part : parts)
    nodes.insert(nodes.end(), part.begin(), part.end());
  return nodes;
}

std::vector<node_id> sorted(std::vector<node_id> values) {
  std::sort(values.begin(), values.end());
  return values;
}

} // namespace

CATCH_TEST_CASE("evaluation keeps the original order", "[flow][epoch_plan]") {
  const auto seeds = ids(7);
  const epoch_plan plan{
    seeds, {3, 2, seed_order::global}, 1, phase::validation, 0};
  CATCH_CHECK(plan.steps() == 3);
  CATCH_CHECK(plan.split(0) == lists{{100, 101}, {102}});
  CATCH_CHECK(plan.split(1) == lists{{103, 104}, {105}});
  CATCH_CHECK(plan.split(2) == lists{{106}, {}});
  CATCH_CHECK(plan.global_seeds(2) == 1);
  CATCH_CHECK(plan.global_seeds(3) == 0);
  CATCH_CHECK(plan.seeds(2, 1).empty());
  CATCH_CHECK(plan.seeds(-1, 0).empty());
  CATCH_CHECK(plan.seeds(0, 2).empty());
}

CATCH_TEST_CASE("a plan keeps what its seeds lie in", "[flow][epoch_plan]") {
  auto seeds = std::make_shared<const std::vector<node_id>>(ids(5));
  const std::weak_ptr<const std::vector<node_id>> lasts = seeds;
  {
    epoch_plan_options options{3, 2, seed_order::global};
    options.keeps = seeds;
    const epoch_plan plan{*seeds, std::move(options), 1, phase::test, 0};
    seeds.reset();
    CATCH_CHECK_FALSE(lasts.expired());
    CATCH_CHECK(plan.split(1) == lists{{103}, {104}});
  }
  CATCH_CHECK(lasts.expired());
}

CATCH_TEST_CASE("local order sends seeds to their owner's rank",
                "[flow][epoch_plan]") {
  // Owners by tens: 10..19 part 1, 20..29 part 2, 30..39 part 3.
  const std::vector<node_id> seeds{10, 30, 11, 20, 12, 31};
  epoch_plan_options options{6, 2, seed_order::local};
  options.owner = [](node_id id) { return static_cast<part_id>(id / 10); };
  // Parts 1 and 3 are near rank 1, part 2 near rank 0: rank 1 takes its first
  // three, the rest moves over.
  const epoch_plan plan{seeds, options, 1, phase::test, 0};
  CATCH_CHECK(plan.split(0) == lists{{20, 12, 31}, {10, 30, 11}});

  // Five seeds: the surplus one goes to rank 1, which has use for it.
  const epoch_plan five{std::span{seeds}.first(5), options, 1, phase::test, 0};
  CATCH_CHECK(five.split(0) == lists{{20, 12}, {10, 30, 11}});
}

CATCH_TEST_CASE("what comes out of weights does not depend on owners",
                "[flow][epoch_plan]") {
  definition def;
  def.train.seed_order = seed_order::local;
  const auto order = [&def] {
    return plan_options(def, nullptr, 2, phase::test).order;
  };
  CATCH_CHECK(order() == seed_order::local);
  def.evaluate.predict = true;
  CATCH_CHECK(order() == seed_order::global);
  def.evaluate.predict = false;
  def.evaluate.only = measured_split::train;
  CATCH_CHECK(order() == seed_order::global);
}

CATCH_TEST_CASE("no seed is repeated or dropped", "[flow][epoch_plan]") {
  random_stream draws{stream_key(7, purpose::generate, 0, 0), 0};
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<std::int64_t>(draws.below(60));
    const auto batch = static_cast<std::int64_t>(1 + draws.below(20));
    const auto ranks = static_cast<rank_id>(1 + draws.below(7));
    const auto parts = static_cast<part_id>(1 + draws.below(9));
    const auto order = draws.below(2) ? seed_order::local : seed_order::global;
    CATCH_INFO("seed 7, round " << round << ": " << count << " seeds, batch "
                                << batch << ", ranks " << ranks << ", parts "
                                << parts);
    const auto seeds = ids(count);
    epoch_plan_options options{batch, ranks, order};
    options.owner = [parts](node_id id) {
      return static_cast<part_id>(mix64(id) % parts);
    };
    const epoch_plan plan{seeds, options, 3, phase::train, round};
    CATCH_REQUIRE(plan.steps() == (count + batch - 1) / batch);
    std::vector<node_id> nodes;
    for (std::int64_t step = 0; step < plan.steps(); ++step) {
      const auto split = plan.split(step);
      CATCH_REQUIRE(split.size() == static_cast<std::size_t>(ranks));
      auto least = split[0].size();
      auto most = least;
      for (rank_id r = 0; r < ranks; ++r) {
        CATCH_REQUIRE(plan.seeds(step, r) == split[r]);
        least = std::min(least, split[r].size());
        most = std::max(most, split[r].size());
      }
      CATCH_REQUIRE(most - least <= 1);
      const auto step_seeds = together(split);
      CATCH_REQUIRE(plan.global_seeds(step)
                    == static_cast<std::int64_t>(step_seeds.size()));
      nodes.insert(nodes.end(), step_seeds.begin(), step_seeds.end());
    }
    CATCH_REQUIRE(sorted(nodes) == seeds);
  }
}

CATCH_TEST_CASE("what decides a plan", "[flow][epoch_plan]") {
  const auto seeds = ids(1000);
  const auto plan_of = [&seeds](seed_order order, rank_id ranks,
                                std::uint64_t run_seed, std::int32_t epoch) {
    epoch_plan_options options{64, ranks, order};
    options.owner = [](node_id id) { return static_cast<part_id>(id % 5); };
    return epoch_plan{seeds, options, run_seed, phase::train, epoch};
  };
  const auto reference = plan_of(seed_order::global, 1, 1, 0);
  const auto local = plan_of(seed_order::local, 4, 1, 0);
  const auto global = plan_of(seed_order::global, 4, 1, 0);
  for (std::int64_t step = 0; step < reference.steps(); ++step) {
    CATCH_CHECK(together(global.split(step)) == reference.seeds(step, 0));
    CATCH_CHECK(sorted(together(local.split(step)))
                == sorted(reference.seeds(step, 0)));
  }
  CATCH_CHECK(reference.seeds(0, 0)
              != plan_of(seed_order::global, 1, 2, 0).seeds(0, 0));
  CATCH_CHECK(reference.seeds(0, 0)
              != plan_of(seed_order::global, 1, 1, 1).seeds(0, 0));

  // Global order knows positions only: renumbered nodes fall alike.
  const auto renumbered = ids(1000, 5000);
  const epoch_plan other{
    renumbered, {64, 4, seed_order::global}, 1, phase::train, 0};
  for (rank_id r = 0; r < 4; ++r) {
    auto expected = global.seeds(3, r);
    for (auto& id : expected)
      id += 4900;
    CATCH_CHECK(other.seeds(3, r) == expected);
  }
}

CATCH_TEST_CASE("shuffles are uniform", "[flow][epoch_plan]") {
  // All 24 orders of 4 seeds; chi-square with 23 degrees of freedom: 49.7 is
  // the 0.1 % point.
  const auto seeds = ids(4);
  std::map<std::vector<node_id>, int> counts;
  constexpr int n = 24000;
  for (int epoch = 0; epoch < n; ++epoch)
    ++counts[epoch_plan{seeds, {4, 1}, 11, phase::train, epoch}.seeds(0, 0)];
  CATCH_REQUIRE(counts.size() == 24);
  double chi = 0;
  for (const auto& [order, count] : counts)
    chi += (count - n / 24.0) * (count - n / 24.0) / (n / 24.0);
  CATCH_CHECK(chi < 49.7);
}

CATCH_TEST_CASE("a plan survives being moved", "[flow][epoch_plan]") {
  const auto seeds = ids(3);
  epoch_plan plan{seeds, {2, 1}, 1, phase::train, 0};
  const auto before = plan.split(0);
  const auto moved = std::move(plan);
  CATCH_CHECK(moved.split(0) == before);
}
