#include "pipelines/figures/cluster_history.hpp"

#include "tests/pipelines/figures/told_figures.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::size_t all_rows = 1'000'000;
constexpr std::int64_t hour = 3'600'000; ///< Milliseconds.

/// The numbers of a page's ticks.
std::vector<std::uint64_t> numbers_in(const cluster_history::page& page) {
  std::vector<std::uint64_t> out;
  for (const auto& tick : page.ticks)
    out.push_back(tick->seq);
  return out;
}

std::set<std::string> daemons_in(const cluster_history& history) {
  std::set<std::string> out;
  for (const auto& tick : history.since(0, all_rows).ticks)
    out.insert(tick->daemons->begin(), tick->daemons->end());
  return out;
}

std::vector<std::string> many_names(int count) {
  std::vector<std::string> out;
  for (int d = 0; d < count; ++d)
    out.push_back("daemon-" + std::to_string(d));
  return out;
}

/// Daemons with so many actors each, of all 14 kinds in turn.
cluster_figures figures_of_actors(int daemons, int actors_of_each) {
  const auto names = many_names(daemons);
  auto out = figures_at(0, names);
  auto& run = out.runs.emplace_back();
  run.health.run = "20261123-070000";
  std::vector<actor_health> actors;
  for (int a = 0; a < actors_of_each; ++a)
    actors.push_back(actor_of(static_cast<actor_kind>(1 + a % 14), 2, 0.5, 0));
  for (const auto& name : names)
    run.health.daemons.push_back(health_of(name, actors));
  return out;
}

} // namespace

CATCH_TEST_CASE("a history is asked from a number on", "[cluster_history]") {
  cluster_history history{100};
  CATCH_CHECK(history.since(0, all_rows).next == 100);
  CATCH_CHECK(history.since(0, all_rows).now == unix_time{0});
  for (int t = 1; t <= 5; ++t)
    history.take(figures_at(1000 * t, {"a", "b"}));
  CATCH_CHECK(history.next() == 105);
  using numbers = std::vector<std::uint64_t>;
  auto page = history.since(0, all_rows);
  CATCH_CHECK(numbers_in(page) == numbers{100, 101, 102, 103, 104});
  CATCH_CHECK(page.next == 105);
  CATCH_CHECK(!page.more);
  CATCH_CHECK(page.now == unix_time{5000});
  page = history.since(103, all_rows);
  CATCH_CHECK(numbers_in(page) == numbers{103, 104});
  page = history.since(105, all_rows);
  CATCH_CHECK(numbers_in(page).empty());
  CATCH_CHECK(page.next == 105);
  // Who has been told of more has been told by somebody else.
  CATCH_CHECK(history.since(106, all_rows).ticks.size() == 5);
  // A tick of two daemons has three rows. One comes in any case.
  page = history.since(0, 7);
  CATCH_CHECK(numbers_in(page) == numbers{100, 101});
  CATCH_CHECK(page.next == 102);
  CATCH_CHECK(page.more);
  CATCH_CHECK(page.now == unix_time{5000});
  CATCH_CHECK(numbers_in(history.since(102, 0)) == numbers{102});
  page = history.since(103, 6);
  CATCH_CHECK(numbers_in(page) == numbers{103, 104});
  CATCH_CHECK(!page.more);
}

CATCH_TEST_CASE("what a second of a history has", "[cluster_history]") {
  cluster_history history;
  auto figures = figures_at(1000, {"a", "b", "c"});
  figures.status.daemons[0].load = load_of(1.5);
  figures.status.daemons[1].state = daemon_state::lost;
  auto& run = figures.runs.emplace_back();
  run.health.run = "r-1";
  run.health.progress.emplace().step = 7;
  run.health.daemons = {
    health_of("a", {actor_of(actor_kind::sampler, 1, 0.5, 0.25),
                    actor_of(actor_kind::trainer, 1, 0.75, 0)}),
    health_of("b", {actor_of(actor_kind::sampler, 3, 0.25, 0.5)}),
    health_of("c", {actor_of(actor_kind::trainer, 5, 1, 1)})};
  run.health.daemons[2].age = 6; // It says nothing of this second.
  history.take(figures);
  const auto page = history.since(0, all_rows);
  CATCH_REQUIRE(page.ticks.size() == 1);
  const auto& tick = *page.ticks.front();
  CATCH_CHECK(*tick.daemons == std::vector<std::string>{"a", "b", "c"});
  CATCH_REQUIRE(tick.rows.size() == 3);
  CATCH_CHECK(tick.rows[0].figures[0] == 1.5F);
  CATCH_CHECK(tick.rows[0].figures[1] == 104'857'600.F);
  CATCH_CHECK(tick.rows[0].figures[2] == 2048.F);
  CATCH_CHECK(tick.rows[0].figures[3] == 1024.5F);
  CATCH_CHECK(tick.rows[0].figures[4] == 4096.F);
  CATCH_CHECK(tick.rows[0].figures[5] == 0.5F);
  CATCH_CHECK(tick.rows[1].state == daemon_state::lost);
  CATCH_CHECK(std::isnan(tick.rows[2].figures[0]));
  CATCH_CHECK(tick.rows[2].state == daemon_state::ready);
  CATCH_REQUIRE(tick.runs.size() == 1);
  CATCH_CHECK(tick.runs.front().run == "r-1");
  CATCH_CHECK(tick.runs.front().progress->step == 7);
  // By kind: of four samplers one is busy for a half, three for a quarter.
  const auto& stages = tick.runs.front().stages;
  CATCH_REQUIRE(stages.size() == 2);
  CATCH_CHECK(stages[0].kind == actor_kind::sampler);
  CATCH_CHECK(stages[0].shares[0] == 0.3125F);
  CATCH_CHECK(stages[0].shares[1] == 0.4375F);
  CATCH_CHECK(stages[1].kind == actor_kind::trainer);
  CATCH_CHECK(stages[1].shares[0] == 0.75F);
}

CATCH_TEST_CASE("a history has a tick for each second", "[cluster_history]") {
  cluster_history history;
  history.take(figures_at(10'000, {"a"}));
  history.take(figures_at(10'499, {"a"}));
  CATCH_CHECK(history.ticks() == 1);
  history.take(figures_at(10'500, {"a"}));
  CATCH_CHECK(history.ticks() == 2);
  // Somebody has set the clock: what it told of later is forgotten.
  history.take(figures_at(9'000, {"a"}));
  CATCH_CHECK(history.ticks() == 1);
  CATCH_CHECK(history.since(0, all_rows).ticks.front()->seq == 2);
}

CATCH_TEST_CASE("a daemon that left an hour ago is forgotten",
                "[cluster_history]") {
  cluster_history history;
  history.take(figures_at(0, {"a", "b"}));
  for (int t = 1; t < 3600; ++t)
    history.take(figures_at(1000 * t, {"b"}));
  CATCH_CHECK(daemons_in(history) == std::set<std::string>{"a", "b"});
  history.take(figures_at(hour + 1, {"b"}));
  CATCH_CHECK(daemons_in(history) == std::set<std::string>{"b"});
}

CATCH_TEST_CASE("a history takes what it says", "[cluster_history]") {
  cluster_history fresh;
  fresh.take(figures_at(0, {"a", "b"}));
  cluster_history history;
  history.take(figures_at(0, {"c"}));
  history.take(figures_at(1000, {"a", "b"}));
  history.take(figures_at(2000, {"a", "b"}));
  const auto three = history.bytes();
  CATCH_CHECK(three > fresh.bytes());
  // The names of daemons are still there when the tick is gone that had them
  // first.
  history.take(figures_at(5 * hour, {"a", "b"}));
  CATCH_CHECK(history.ticks() == 1);
  CATCH_CHECK(history.bytes() == fresh.bytes());
}

CATCH_TEST_CASE("an hour of 200 daemons has a bound", "[cluster_history]") {
  // It takes the same for 50 actors of each, for they are told of by kind.
  cluster_history of_many;
  of_many.take(figures_of_actors(200, 50));
  cluster_history history;
  auto figures = figures_of_actors(200, 14);
  history.take(figures);
  CATCH_CHECK(history.bytes() == of_many.bytes());
  for (int second = 1; second < 3700; ++second) {
    figures.taken = unix_time{1000 * second};
    history.take(figures);
  }
  CATCH_CHECK(history.ticks() == cluster_history::most_ticks);
  CATCH_CHECK(history.bytes() >= 3600 * 200 * sizeof(daemon_sample));
  CATCH_CHECK(history.bytes() <= 3600 * (200 * sizeof(daemon_sample) + 800));
  CATCH_CHECK(history.next() == 3700);
  CATCH_CHECK(history.since(0, all_rows).ticks.front()->seq == 100);
}

CATCH_TEST_CASE("more daemons have less than an hour", "[cluster_history]") {
  auto figures = figures_at(0, many_names(2048));
  cluster_history history;
  for (int second = 0; second < 1500; ++second) {
    figures.taken = unix_time{1000 * second};
    history.take(figures);
    CATCH_REQUIRE(history.bytes() <= cluster_history::most_bytes);
  }
  CATCH_CHECK(history.ticks() > 900);
  CATCH_CHECK(history.ticks() < 1200);
}
