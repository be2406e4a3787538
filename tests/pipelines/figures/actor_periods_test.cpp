#include "pipelines/figures/actor_periods.hpp"

#include "actors/http/api/feed_json.hpp"
#include "pipelines/figures/cluster_history.hpp"
#include "tests/pipelines/figures/told_figures.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using periods = std::vector<actor_periods::period>;

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
                "[actor_periods]") {
  actor_periods gathered;
  for (int i = 0; i < 10; ++i) {
    auto figures = run_at(
      i * second, {health_of("b", {trainer_of(2, 0)}),
                   health_of("a", {trainer_of(0, 1), trainer_of(1, 0.25)})});
    auto& told = figures.runs[0].health.daemons;
    told[0].actors[0].queue = static_cast<std::uint64_t>(i);
    told[0].actors[0].state =
      i == 9 ? actor_state::stalled : actor_state::running;
    told[1].actors[0].busy = i < 5 ? 1 : 0.2;
    told[1].actors[1].queue = i == 4 ? 100'000 : 7;
    CATCH_CHECK(gathered.take(figures).empty());
  }
  const auto done = gathered.take(run_at(10'500, {}));
  CATCH_REQUIRE(done.size() == 1);
  const auto& period = *done[0];
  CATCH_CHECK(period.run == "r");
  CATCH_CHECK(period.begin == unix_time{0});
  CATCH_CHECK(period.end == unix_time{10'500});
  CATCH_REQUIRE(period.shares.size() == 2);
  const auto* a = period.of("a");
  CATCH_REQUIRE(a != nullptr);
  CATCH_REQUIRE(a->samples.size() == 2);
  CATCH_CHECK(((*a->actors)[1] == actor_place{actor_kind::trainer, -1, 1, ""}));
  CATCH_CHECK(a->samples[0].busy == 150);
  CATCH_CHECK((a->samples[0].state == actor_state::starting));
  CATCH_CHECK(a->samples[1].busy == 63); // 62.5
  CATCH_CHECK(a->samples[1].starved == 188);
  CATCH_CHECK(a->samples[1].queue == 65'535);
  const auto* b = period.of("b");
  CATCH_REQUIRE(b != nullptr);
  CATCH_CHECK(b->samples[0].busy == 0);
  CATCH_CHECK(b->samples[0].queue == 9);
  CATCH_CHECK((b->samples[0].state == actor_state::stalled));
  CATCH_CHECK(period.of("c") == nullptr);
}

CATCH_TEST_CASE("a period has who told in it, in whatever order",
                "[actor_periods]") {
  actor_periods gathered;
  const auto a = health_of("a", {trainer_of(0, 1), trainer_of(1, 0)});
  auto turned = a;
  std::swap(turned.actors[0], turned.actors[1]);
  const auto b = health_of("b", {trainer_of(1, 0.5), trainer_of(1, 0.5)});
  auto late = a;
  late.age = 6; // What it says is of another second.
  late.actors[0].busy = 0;
  gathered.take(run_at(0, {a, b}));
  gathered.take(run_at(1 * second, {b, turned}));
  gathered.take(run_at(2 * second, {late, b}));
  auto done = gathered.take(run_at(10 * second, {b, late}));
  CATCH_REQUIRE(done.size() == 1);
  const auto* of_a = done[0]->of("a");
  CATCH_REQUIRE(of_a != nullptr);
  CATCH_REQUIRE(of_a->samples.size() == 2);
  CATCH_CHECK(of_a->samples[0].busy == 250);
  CATCH_CHECK(of_a->samples[1].busy == 0);
  const auto* of_b = done[0]->of("b");
  CATCH_REQUIRE(of_b != nullptr);
  CATCH_REQUIRE(of_b->samples.size() == 1); // Who is told of twice is one.
  CATCH_CHECK(of_b->samples[0].busy == 125);
  // Of who tells nothing in a period there is nothing in it, and others are
  // named as before.
  const auto names = of_b->actors;
  done = gathered.take(run_at(20 * second, {b, a}));
  CATCH_REQUIRE(done.size() == 1);
  CATCH_CHECK(done[0]->of("a") == nullptr);
  CATCH_REQUIRE(done[0]->of("b") != nullptr);
  CATCH_CHECK(done[0]->of("b")->actors == names);
  done = gathered.take(run_at(30 * second, {b, a}));
  CATCH_REQUIRE(done[0]->of("a") != nullptr);
  CATCH_CHECK(done[0]->of("a")->samples.size() == 2);
}

CATCH_TEST_CASE("the last period of a run ends with it", "[actor_periods]") {
  actor_periods gathered;
  const auto a = health_of("a", {trainer_of(0, 1)});
  gathered.take(run_at(0, {a}));
  const auto done = gathered.take(figures_at(second, {}));
  CATCH_REQUIRE(done.size() == 1);
  CATCH_CHECK(done[0]->end == unix_time{second});
  CATCH_CHECK(done[0]->of("a") != nullptr);
  CATCH_CHECK(gathered.take(figures_at(20 * second, {})).empty());
  // A clock that is set back ends a period, too.
  gathered.take(run_at(100 * second, {a}));
  CATCH_CHECK(gathered.take(run_at(50 * second, {a})).size() == 1);
}

CATCH_TEST_CASE("a period has who told in half of its seconds",
                "[actor_periods]") {
  actor_periods gathered;
  for (int i = 0; i < 10; ++i) {
    auto hung = health_of("b", {trainer_of(1, 1)});
    hung.age = i < 4 ? 0 : i - 3; // Heard for 4 s, and believed for 2 more.
    auto longer = health_of("c", {trainer_of(2, 1)});
    longer.age = i < 2 ? 0 : i - 1;
    gathered.take(
      run_at(i * second, {health_of("a", {trainer_of(0, 1)}), hung, longer}));
  }
  const auto done = gathered.take(figures_at(10 * second, {}));
  CATCH_REQUIRE(done.size() == 1);
  CATCH_CHECK(done[0]->of("a") != nullptr);
  CATCH_CHECK(done[0]->of("b") != nullptr);
  CATCH_CHECK(done[0]->of("c") == nullptr);
}

CATCH_TEST_CASE("of a daemon that tells of others each second nothing is kept",
                "[actor_periods]") {
  actor_periods gathered;
  for (int i = 0; i < 10; ++i)
    gathered.take(many_actors(i * second, 2, 256, std::to_string(i)));
  const auto done = gathered.take(figures_at(10 * second, {}));
  CATCH_REQUIRE(done.size() == 1);
  CATCH_CHECK(done[0]->shares.empty());
  // Of one that tells of too many there are as many as there may be.
  gathered.take(many_actors(20 * second, 1, 300));
  const auto cut = gathered.take(figures_at(30 * second, {}));
  CATCH_REQUIRE(cut.size() == 1);
  CATCH_REQUIRE(cut[0]->shares.size() == 1);
  CATCH_CHECK(cut[0]->shares[0].samples.size() == actor_periods::most_actors);
}

CATCH_TEST_CASE("an hour of 10,000 actors fits in", "[actor_periods]") {
  actor_periods gathered;
  cluster_history history;
  const auto add = [&](const cluster_figures& figures) {
    history.take(figures, gathered.take(figures));
  };
  // Nothing changes: the time between two figures may be longer here. But each
  // time another daemon has one actor less.
  auto figures = many_actors(0, 200, 50);
  for (int i = 0; i <= 370; ++i) {
    figures.taken = unix_time{i * 10 * second};
    auto& actors = figures.runs[0].health.daemons[std::size_t(i) % 200].actors;
    const auto last = actors.back();
    actors.pop_back();
    add(figures);
    actors.push_back(last);
  }
  const auto known = history.actors("r");
  CATCH_REQUIRE(known.size() == 361);
  CATCH_CHECK(known.back()->end - known.front()->begin
              == cluster_history::longest + actor_periods::length);
  CATCH_CHECK(history.bytes() >= 360 * 9'999 * sizeof(actor_sample));
  CATCH_CHECK(history.bytes() <= cluster_history::most_bytes);
  CATCH_CHECK(history.actors("s").empty());
  // Of 50 actors, or 49, at one daemon the last 20 periods are told; none of
  // a kind that it does not have.
  CATCH_CHECK(
    actors_json(known, "daemon-9", "sampler", 1010)["actors"].empty());
  const auto told = actors_json(known, "daemon-9", "trainer", 1010)["actors"];
  CATCH_REQUIRE(told.size() == 50);
  for (const auto& actor : told)
    CATCH_CHECK(actor["rows"].back()[0] == 3690);
  CATCH_CHECK(told[0]["rows"].size() == 20);
  CATCH_CHECK(told[0]["rows"].front()[0] == 3500);
  // When there have been no runs for an hour, nothing is left.
  add(figures_at(3701 * second, {}));
  add(figures_at(7000 * second, {}));
  CATCH_CHECK_FALSE(history.actors("r").empty());
  add(figures_at(7400 * second, {}));
  CATCH_CHECK(history.actors("r").empty());
  CATCH_CHECK(history.bytes() < 1000);
}

CATCH_TEST_CASE("actors that are others each time have a bound",
                "[actor_periods]") {
  actor_periods gathered;
  cluster_history history;
  auto figures = many_actors(0, 200, 50);
  for (int i = 0; i < 100; ++i) {
    figures.taken = unix_time{i * 10 * second};
    for (auto& daemon : figures.runs[0].health.daemons)
      for (auto& actor : daemon.actors)
        actor.peer.assign(100, static_cast<char>('a' + i % 26));
    history.take(figures, gathered.take(figures));
    CATCH_REQUIRE(history.bytes() <= cluster_history::most_bytes);
  }
  const auto known = history.actors("r");
  CATCH_CHECK(known.size() > 5);
  CATCH_CHECK(known.size() < 60);
}

CATCH_TEST_CASE("when a clock is set back, what it told of later is forgotten",
                "[actor_periods]") {
  actor_periods gathered;
  cluster_history history;
  const auto add = [&](std::int64_t at) {
    const auto figures = many_actors(at * second, 2, 3);
    history.take(figures, gathered.take(figures));
  };
  for (int i = 0; i <= 300; ++i)
    add(10 * i);
  CATCH_CHECK(history.actors("r").size() == 300);
  for (int i = 0; i <= 2; ++i)
    add(2005 + 10 * i); // A quarter of an hour back.
  const auto known = history.actors("r");
  CATCH_CHECK(known.size() == 202); // From 0 to 2000, and two since then.
  for (std::size_t i = 0; i < known.size(); ++i) {
    CATCH_CHECK(known[i]->begin < known[i]->end);
    CATCH_CHECK((i == 0 || known[i]->begin > known[i - 1]->begin));
  }
  history.take(figures_at(-1, {}));
  CATCH_CHECK(history.actors("r").empty());
  CATCH_CHECK(history.bytes() < 1000);
}
