#include "pipelines/health/actor_gauge.hpp"
#include "pipelines/health/health_sampler.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

std::size_t place(actor_state state) {
  return static_cast<std::size_t>(state);
}

} // namespace

CATCH_TEST_CASE("a clock of states accounts for all time",
                "[pipelines][health]") {
  const auto begin = std::chrono::steady_clock::now();
  state_clock clock{begin};
  clock.enter(actor_state::running, begin + 10ms);
  clock.enter(actor_state::running, begin + 15ms); // Changes nothing.
  clock.enter(actor_state::waiting, begin + 30ms);
  const auto now = clock.read(begin + 100ms);
  CATCH_CHECK((now.state == actor_state::waiting));
  CATCH_CHECK(now.spent[place(actor_state::starting)] == 10'000'000);
  CATCH_CHECK(now.spent[place(actor_state::running)] == 20'000'000);
  CATCH_CHECK(now.spent[place(actor_state::waiting)] == 70'000'000);
  CATCH_CHECK(now.spent[place(actor_state::starved)] == 0);
}

CATCH_TEST_CASE("threads that enter states lose no time",
                "[pipelines][health]") {
  const auto begin = std::chrono::steady_clock::now();
  state_clock clock{begin};
  std::vector<std::thread> threads;
  for (const auto state : {actor_state::running, actor_state::starved,
                           actor_state::waiting, actor_state::stalled})
    threads.emplace_back([&clock, state] {
      for (int i = 0; i < 10'000; ++i)
        clock.enter(state);
    });
  for (auto& thread : threads)
    thread.join();
  const auto end = std::chrono::steady_clock::now();
  std::int64_t all = 0;
  for (auto time : clock.read(end).spent)
    all += time;
  CATCH_CHECK(all == std::chrono::nanoseconds{end - begin}.count());
}

CATCH_TEST_CASE("latencies fall in buckets a quarter wide",
                "[pipelines][health]") {
  CATCH_CHECK(latency_counts::bucket_of(0) == 0);
  CATCH_CHECK(latency_counts::bucket_of(3) == 3);
  CATCH_CHECK(latency_counts::bucket_of(8) == 8);
  CATCH_CHECK(latency_counts::bucket_of(10) == 9);
  CATCH_CHECK(latency_counts::end_of(9) == Approx(12e-6));
  CATCH_CHECK(latency_counts::bucket_of(~std::uint64_t{0})
              == latency_counts::buckets - 1);
  // Every microsecond lies below the end of its bucket, by a quarter at most.
  for (std::uint64_t us = 4; us < 100'000; us += 7) {
    const auto end = latency_counts::end_of(latency_counts::bucket_of(us));
    CATCH_CHECK(end > double(us) * 1e-6);
    CATCH_CHECK(end <= 1.25 * double(us) * 1e-6 + 1e-12);
  }
  latency_histogram counted;
  for (int i = 0; i < 99; ++i)
    counted.add(1ms);
  counted.add(100ms);
  const auto now = counted.read();
  CATCH_CHECK(now.total() == 100);
  CATCH_CHECK(now.mean() == Approx(0.00199));
  CATCH_CHECK(now.quantile(0.5) == Approx(0.001024));
  CATCH_CHECK(now.quantile(0.99) == Approx(0.001024));
  CATCH_CHECK(now.quantile(1) == Approx(0.114688));
  CATCH_CHECK(now.since(now).total() == 0);
  CATCH_CHECK(now.since(now).quantile(0.5) == 0);
}

CATCH_TEST_CASE("a gauge tells of requests, batches and errors",
                "[pipelines][health]") {
  actor_gauge gauge{{actor_kind::feature_proxy, 2, -1, "b"}};
  gauge.asked(10);
  gauge.asked(20);
  CATCH_CHECK(gauge.read().now[place(actor_state::waiting)] == 1);
  gauge.answered(2ms, 100);
  CATCH_CHECK(gauge.read().now[place(actor_state::waiting)] == 1);
  gauge.answered(3ms, 200);
  gauge.works_on({phase::test, 7, 123456, 9});
  gauge.restarted("it " + std::string(1000, 'x'));
  const auto now = gauge.read();
  CATCH_CHECK(now.now[place(actor_state::starved)] == 1);
  CATCH_CHECK(now.items == 2);
  CATCH_CHECK(now.bytes == 300);
  CATCH_CHECK(now.bytes_sent == 30);
  CATCH_CHECK(now.restarts == 1);
  CATCH_REQUIRE(now.batch);
  CATCH_CHECK((now.batch->phase == phase::test));
  CATCH_CHECK(now.batch->epoch == 7);
  CATCH_CHECK(now.batch->step == 123456);
  CATCH_CHECK(now.batch->rank == 9);
  CATCH_CHECK(gauge.last_error().size() == health_limits::text);
}

CATCH_TEST_CASE("shares are of the time of all workers",
                "[pipelines][health]") {
  const actor_gauge gauge{{actor_kind::sampler}, 2};
  gauge_reading before;
  before.at = std::chrono::steady_clock::time_point{10s};
  before.busy = 1'000'000'000;
  auto now = before;
  now.at += 1s;
  now.now[place(actor_state::running)] = 2;
  now.since[place(actor_state::running)] = 8'000'000'000;
  now.spent[place(actor_state::running)] += 1'500'000'000;
  now.spent[place(actor_state::stalled)] += 500'000'000;
  now.busy = 1'500'000'000;
  now.items = 4;
  const auto health = health_between(gauge, before, now);
  CATCH_CHECK(health.busy == Approx(0.25));
  CATCH_CHECK(health.waiting == Approx(0.5));
  CATCH_CHECK(health.stalled == Approx(0.25));
  CATCH_CHECK(health.starved == 0);
  CATCH_CHECK(health.items_per_second == Approx(4));
  CATCH_CHECK(health.in_state == Approx(3));
  // It has jobs, but hardly works at them.
  CATCH_CHECK((health.state == actor_state::waiting));
  CATCH_CHECK(health.why == "for neighbours from the sampling services");
}

CATCH_TEST_CASE("one worker that hangs is told of among others that do not",
                "[pipelines][health]") {
  actor_gauge gauge{{actor_kind::batcher}, 3};
  const auto begin = std::chrono::steady_clock::now();
  gauge.works_on({phase::train, 0, 4, 0}, 0);
  gauge.enter(actor_state::running, 0);
  for (std::size_t worker : {1, 2}) {
    gauge.works_on({phase::train, 0, 20, 0}, worker);
    gauge.enter(actor_state::running, worker);
    gauge.enter(actor_state::starved, worker);
  }
  gauge_reading before;
  before.at = begin;
  auto health = health_between(gauge, before, gauge.read(begin + 2s));
  CATCH_CHECK((health.state == actor_state::starved));
  CATCH_CHECK(health.why == "for input");
  CATCH_REQUIRE(health.batch);
  CATCH_CHECK(health.batch->step == 20);
  health = health_between(gauge, before, gauge.read(begin + 60s));
  CATCH_CHECK(health.why.starts_with("for input; one of its workers has been "
                                     "at train, epoch 1, step 5 for "));
  // Where all run, the batch is the last one that was begun.
  for (std::size_t worker : {1, 2}) {
    gauge.works_on({phase::train, 0, 21, 0}, worker);
    gauge.enter(actor_state::running, worker);
  }
  health = health_between(gauge, before, gauge.read(begin + 60s));
  CATCH_CHECK((health.state == actor_state::running));
  CATCH_CHECK(health.in_state > 50);
  CATCH_CHECK(health.why.starts_with("one of its workers has been at train, "
                                     "epoch 1, step 5 for "));
  CATCH_REQUIRE(health.batch);
  CATCH_CHECK(health.batch->step == 21);
}

CATCH_TEST_CASE("a window begins with the actors and then moves on",
                "[pipelines][health]") {
  gauge_board board;
  const auto gauge = board.add({actor_kind::feature_proxy, 1, -1, "b"});
  health_sampler sampler;
  daemon_health seen;
  const auto begin = std::chrono::steady_clock::now() + 1s;
  gauge->done(1ms);
  sampler.sample(board, begin, seen);
  CATCH_REQUIRE(seen.actors.size() == 1);
  CATCH_CHECK(seen.actors[0].answers == 1);
  CATCH_CHECK(seen.window > 0);
  for (int i = 1; i <= 10; ++i) {
    gauge->done(1ms);
    sampler.sample(board, begin + i * 1s, seen);
  }
  CATCH_CHECK(seen.window == Approx(5));
  CATCH_CHECK(seen.actors[0].answers == 5);
  CATCH_CHECK(seen.actors[0].items == 11);
  CATCH_REQUIRE(seen.peers.size() == 1);
  CATCH_CHECK(seen.peers[0].name == "b");
  CATCH_CHECK(seen.peers[0].requests == 5);
  CATCH_CHECK(seen.peers[0].mean_round_trip == Approx(0.001));
}

CATCH_TEST_CASE("a report of many parts has those who limit the run",
                "[pipelines][health]") {
  gauge_board board;
  // As a pipeline spawns them: the trainer, the last one, must not be missing.
  std::vector<std::shared_ptr<actor_gauge>> proxies;
  for (std::int32_t part = 0; part < 300; ++part)
    proxies.push_back(
      board.add({actor_kind::feature_proxy, part, -1, std::to_string(part)}));
  const auto trainer = board.add({actor_kind::trainer, -1, 0});
  proxies[299]->done(5ms);
  proxies[7]->done(1ms);
  proxies[7]->done(1ms);
  health_sampler sampler;
  daemon_health seen;
  sampler.sample(board, std::chrono::steady_clock::now() + 1s, seen);
  CATCH_CHECK(seen.left_out == 45);
  CATCH_REQUIRE(seen.actors.size() == health_limits::actors);
  CATCH_CHECK((seen.actors[0].kind == actor_kind::trainer));
  CATCH_CHECK(seen.actors[1].part == 299);
  CATCH_CHECK(seen.actors[2].part == 7);
  // Of those that nobody waits for, the first.
  CATCH_CHECK(seen.actors[3].part == 0);
  CATCH_CHECK(seen.actors.back().part == 253);
  CATCH_CHECK(seen.peers.size() == health_limits::peers);
  // Of whom `status` would say that all is well.
  proxies[250]->restarted("it died");
  proxies[299]->done(5ms);
  sampler.sample(board, std::chrono::steady_clock::now() + 2s, seen);
  CATCH_CHECK((seen.actors[0].kind == actor_kind::trainer));
  CATCH_CHECK(seen.actors[1].part == 250);
  CATCH_CHECK(seen.actors[2].part == 299);
}

CATCH_TEST_CASE("gauges of a board that is gone are not kept",
                "[pipelines][health]") {
  health_sampler sampler;
  daemon_health seen;
  const auto now = std::chrono::steady_clock::now();
  std::weak_ptr<actor_gauge> old;
  {
    gauge_board board;
    const auto gauge = board.add({actor_kind::sampler});
    gauge->done(1ms);
    old = gauge;
    sampler.sample(board, now, seen);
  }
  gauge_board board;
  const auto fresh = board.add({actor_kind::fetcher});
  sampler.sample(board, now + 1s, seen);
  CATCH_CHECK(old.expired());
  CATCH_REQUIRE(seen.actors.size() == 1);
  CATCH_CHECK((seen.actors[0].kind == actor_kind::fetcher));
  CATCH_CHECK(seen.actors[0].items == 0);
}

CATCH_TEST_CASE("a gauge remembers the most credit that was given",
                "[pipelines][health][gauge]") {
  actor_gauge gauge{{actor_kind::dispatcher}};
  gauge.credit(2, 30);
  gauge.credit(3, 20);
  gauge.credit(0, 0);
  const auto now = gauge.read();
  CATCH_CHECK(now.credit_batches == 0);
  CATCH_CHECK(now.credit_bytes == 0);
  CATCH_CHECK(now.peak_batches == 3);
  CATCH_CHECK(now.peak_bytes == 30);
}
