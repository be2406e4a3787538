#include "actors/http/api/actor_history.hpp"

#include "actors/http/api/feed_json.hpp"
#include "tests/actors/http/api/told_figures.hpp"
#include "tests/support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using periods = std::vector<actor_history::period>;

constexpr std::int64_t second = 1000; // Milliseconds, as figures are told in.

cluster_figures run_at(std::int64_t time, std::vector<daemon_health> daemons) {
  auto out = figures_at(time, {});
  auto& run = out.runs.emplace_back();
  run.health.run = "r";
  run.health.daemons = std::move(daemons);
  return out;
}

actor_health trainer_of(std::int32_t rank, double busy) {
  auto out = actor_of(actor_kind::trainer, 1, busy, 1 - busy);
  out.rank = rank;
  return out;
}

/// A second of many actors.
cluster_figures many_actors(std::int64_t time, int daemons, int actors,
                            const std::string& peer = "") {
  std::vector<daemon_health> all;
  for (int d = 0; d < daemons; ++d) {
    std::vector<actor_health> of;
    for (int a = 0; a < actors; ++a) {
      of.push_back(trainer_of(a, 0.5));
      of.back().peer = peer;
    }
    all.push_back(health_of("daemon-" + std::to_string(d), std::move(of)));
  }
  return run_at(time, std::move(all));
}

} // namespace

CATCH_TEST_CASE("a period has the means of what was told in it",
                "[actor_history]") {
  actor_periods gathered;
  for (int i = 0; i < 10; ++i) {
    auto figures = run_at(
      i * second, {health_of("a", {trainer_of(0, 1), trainer_of(1, 0.25)}),
                   health_of("b", {trainer_of(2, 0)})});
    auto& told = figures.runs[0].health.daemons;
    told[0].actors[0].busy = i < 5 ? 1 : 0.2;
    told[0].actors[1].queue = i == 4 ? 100'000 : 7;
    told[1].actors[0].queue = static_cast<std::uint64_t>(i);
    told[1].actors[0].state =
      i == 9 ? actor_state::stalled : actor_state::running;
    CATCH_CHECK(gathered.take(figures).empty());
  }
  const auto done = gathered.take(run_at(10 * second, {}));
  CATCH_REQUIRE(done.size() == 1);
  const auto& period = *done[0];
  CATCH_CHECK(period.run == "r");
  CATCH_CHECK(period.begin == unix_time{0});
  CATCH_REQUIRE(period.actors->size() == 3);
  CATCH_CHECK(
    ((*period.actors)[1] == actor_place{"a", actor_kind::trainer, -1, 1, ""}));
  CATCH_CHECK((*period.actors)[2].daemon == "b");
  CATCH_CHECK(period.samples[0].busy == 150);
  CATCH_CHECK(period.samples[1].busy == 63); // 62.5
  CATCH_CHECK(period.samples[1].starved == 188);
  CATCH_CHECK(period.samples[1].queue == 65'535);
  CATCH_CHECK(period.samples[2].busy == 0);
  CATCH_CHECK(period.samples[2].queue == 9);
  CATCH_CHECK((period.samples[2].state == actor_state::stalled));
  CATCH_CHECK((period.samples[0].state == actor_state::starting));
}

CATCH_TEST_CASE("a period has who told in it, in whatever order",
                "[actor_history]") {
  actor_periods gathered;
  const auto a = health_of("a", {trainer_of(0, 1)});
  const auto b = health_of("b", {trainer_of(1, 0.5), trainer_of(1, 0.5)});
  auto late = a;
  late.age = 6; // What it says is of another second.
  late.actors[0].busy = 0;
  gathered.take(run_at(0, {a, b}));
  gathered.take(run_at(1 * second, {b, a}));
  gathered.take(run_at(2 * second, {late, b}));
  auto done = gathered.take(run_at(10 * second, {b, late}));
  CATCH_REQUIRE(done.size() == 1);
  const auto first = done[0]->actors;
  CATCH_REQUIRE(first->size() == 2); // Who is told of twice is one.
  CATCH_CHECK(done[0]->samples[0].busy == 250);
  CATCH_CHECK(done[0]->samples[1].busy == 125);
  // Of who tells nothing in a period there is nothing in it.
  done = gathered.take(run_at(20 * second, {b, a}));
  CATCH_REQUIRE(done.size() == 1);
  CATCH_REQUIRE(done[0]->samples.size() == 1);
  CATCH_CHECK(done[0]->actors->front().daemon == "b");
  done = gathered.take(run_at(30 * second, {b, a}));
  CATCH_CHECK(done[0]->samples.size() == 2);
  const auto third = done[0]->actors;
  done = gathered.take(run_at(40 * second, {b, a}));
  CATCH_CHECK(done[0]->actors == third);
}

CATCH_TEST_CASE("the last period of a run ends with it", "[actor_history]") {
  actor_periods gathered;
  gathered.take(run_at(0, {health_of("a", {trainer_of(0, 1)})}));
  const auto done = gathered.take(figures_at(second, {}));
  CATCH_REQUIRE(done.size() == 1);
  CATCH_CHECK(done[0]->samples.size() == 1);
  CATCH_CHECK(gathered.take(figures_at(20 * second, {})).empty());
  // A clock that is set back ends a period, too.
  gathered.take(run_at(100 * second, {health_of("a", {trainer_of(0, 1)})}));
  CATCH_CHECK(
    gathered.take(run_at(50 * second, {health_of("a", {trainer_of(0, 1)})}))
      .size()
    == 1);
}

CATCH_TEST_CASE("an hour of 10,000 actors fits in", "[actor_history]") {
  actor_periods gathered;
  actor_history history;
  // Nothing changes: the time between two figures may be longer here.
  for (int i = 0; i <= 361; ++i)
    history.add(gathered.take(many_actors(i * 10 * second, 200, 50)));
  const auto known = history.of("r");
  CATCH_REQUIRE(known.size() == 361);
  CATCH_CHECK(known.back()->begin - known.front()->begin
              == actor_history::longest);
  CATCH_CHECK(known.front()->actors == known.back()->actors);
  CATCH_CHECK(history.bytes() >= 361 * 10'000 * sizeof(actor_sample));
  CATCH_CHECK(history.bytes() <= actor_history::most_bytes);
  CATCH_CHECK(history.of("s").empty());
  // Of 50 actors at one daemon the last 20 periods are told.
  const auto told = actors_json(known, "daemon-7", "trainer", 1000)["actors"];
  CATCH_REQUIRE(told.size() == 50);
  for (const auto& actor : told) {
    CATCH_REQUIRE(actor["rows"].size() == 20);
    CATCH_CHECK(actor["rows"].front()[0] == 3410);
    CATCH_CHECK(actor["rows"].back()[0] == 3600);
  }
}

CATCH_TEST_CASE("actors that are others each time have a bound",
                "[actor_history]") {
  actor_periods gathered;
  actor_history history;
  for (int i = 0; i < 100; ++i) {
    const std::string peer(100, static_cast<char>('a' + i % 26));
    history.add(gathered.take(many_actors(i * 10 * second, 200, 50, peer)));
    CATCH_REQUIRE(history.bytes() <= actor_history::most_bytes);
  }
  const auto known = history.of("r");
  CATCH_CHECK(known.size() > 5);
  CATCH_CHECK(known.size() < 20);
  // What is forgotten is off the bill.
  for (int i = 100; i < 500; ++i)
    history.add(gathered.take(many_actors(i * 10 * second, 1, 1)));
  CATCH_CHECK(history.bytes() < 100'000);
}
