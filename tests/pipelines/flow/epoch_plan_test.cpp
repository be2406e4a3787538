#include "messages/base/random.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

using namespace graphmill;

namespace {

using lists = std::vector<std::vector<seed_row>>;

std::vector<seed_row> first_rows(std::int64_t n) {
  std::vector<seed_row> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<seed_row> together(const lists& parts) {
  std::vector<seed_row> rows;
  for (const auto& part : parts)
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

std::vector<seed_row> sorted(std::vector<seed_row> values) {
  std::sort(values.begin(), values.end());
  return values;
}

} // namespace

CATCH_TEST_CASE("evaluation keeps the original order", "[flow][epoch_plan]") {
  const epoch_plan plan{7, {3, 2, seed_order::global}, 1, phase::validation, 0};
  CATCH_CHECK(plan.steps() == 3);
  CATCH_CHECK(plan.split(0) == lists{{0, 1}, {2}});
  CATCH_CHECK(plan.split(1) == lists{{3, 4}, {5}});
  CATCH_CHECK(plan.split(2) == lists{{6}, {}});
  CATCH_CHECK(plan.global_seeds(2) == 1);
  CATCH_CHECK(plan.global_seeds(3) == 0);
  CATCH_CHECK(plan.seeds(2, 1).empty());
  CATCH_CHECK(plan.seeds(-1, 0).empty());
  CATCH_CHECK(plan.seeds(0, 2).empty());
}

CATCH_TEST_CASE("training permutes positions by the draws of its epoch",
                "[flow][epoch_plan]") {
  random_stream draws{stream_key(5, purpose::permutation, 2, 0), 0};
  auto expected = first_rows(50);
  for (auto left = expected.size(); left > 1; --left)
    std::swap(expected[left - 1],
              expected[draws.below(static_cast<std::uint32_t>(left))]);
  const epoch_plan plan{50, {50, 1, seed_order::global}, 5, phase::train, 2};
  CATCH_CHECK(plan.seeds(0, 0) == expected);
}

CATCH_TEST_CASE("options keep the table and the graph of their seeds",
                "[flow][epoch_plan]") {
  auto graph = test::whole(test::cycle(6)).graph;
  auto nodes = std::make_shared<const std::vector<node_id>>(3, node_id{1});
  const std::weak_ptr<const std::vector<node_id>> lasts = nodes;
  {
    auto table = table_of(*graph, std::move(nodes));
    const epoch_plan plan{
      table->rows(), plan_options({}, std::move(graph), table, 2, phase::train),
      1, phase::test, 0};
    table.reset();
    CATCH_CHECK_FALSE(lasts.expired());
    CATCH_CHECK(plan.steps() == 3); // Each of one seed.
  }
  CATCH_CHECK(lasts.expired());
}

CATCH_TEST_CASE("local order sends seeds to their owner's rank",
                "[flow][epoch_plan]") {
  const std::vector<part_id> owners{1, 3, 1, 2, 1, 3};
  epoch_plan_options options{6, 2, seed_order::local};
  options.owner = [&owners](seed_row row) { return owners[row]; };
  // Parts 1 and 3 are near rank 1, part 2 near rank 0: rank 1 takes its first
  // three, the rest moves over.
  const epoch_plan plan{6, options, 1, phase::test, 0};
  CATCH_CHECK(plan.split(0) == lists{{3, 4, 5}, {0, 1, 2}});

  // Five seeds: the surplus one goes to rank 1, which has use for it.
  const epoch_plan five{5, options, 1, phase::test, 0};
  CATCH_CHECK(five.split(0) == lists{{3, 4}, {0, 1, 2}});
}

CATCH_TEST_CASE("what comes out of weights does not depend on owners",
                "[flow][epoch_plan]") {
  definition def;
  def.train.seed_order = seed_order::local;
  const auto order = [&def] {
    return plan_options(def, nullptr, nullptr, 2, phase::test).order;
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
    epoch_plan_options options{batch, ranks, order};
    options.owner = [parts](seed_row row) {
      return static_cast<part_id>(mix64(row) % parts);
    };
    const epoch_plan plan{count, options, 3, phase::train, round};
    CATCH_REQUIRE(plan.steps() == (count + batch - 1) / batch);
    std::vector<seed_row> rows;
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
      rows.insert(rows.end(), step_seeds.begin(), step_seeds.end());
    }
    CATCH_REQUIRE(sorted(rows) == first_rows(count));
  }
}

CATCH_TEST_CASE("what decides a plan", "[flow][epoch_plan]") {
  const auto plan_of = [](seed_order order, rank_id ranks,
                          std::uint64_t run_seed, std::int32_t epoch) {
    epoch_plan_options options{64, ranks, order};
    options.owner = [](seed_row row) { return static_cast<part_id>(row % 5); };
    return epoch_plan{1000, options, run_seed, phase::train, epoch};
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
}

CATCH_TEST_CASE("shuffles are uniform", "[flow][epoch_plan]") {
  // All 24 orders of 4 seeds; chi-square with 23 degrees of freedom: 49.7 is
  // the 0.1 % point.
  std::map<std::vector<seed_row>, int> counts;
  constexpr int n = 24000;
  for (int epoch = 0; epoch < n; ++epoch)
    ++counts[epoch_plan{4, {4, 1}, 11, phase::train, epoch}.seeds(0, 0)];
  CATCH_REQUIRE(counts.size() == 24);
  double chi = 0;
  for (const auto& [order, count] : counts)
    chi += (count - n / 24.0) * (count - n / 24.0) / (n / 24.0);
  CATCH_CHECK(chi < 49.7);
}

CATCH_TEST_CASE("a plan survives being moved", "[flow][epoch_plan]") {
  epoch_plan plan{3, {2, 1}, 1, phase::train, 0};
  const auto before = plan.split(0);
  const auto moved = std::move(plan);
  CATCH_CHECK(moved.split(0) == before);
}
