#include "actors/commands/text/health_text.hpp"

#include "actors/commands/text/run_screen.hpp"
#include "messages/wire/health.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("a run that trains nothing has no epochs and learns nothing",
                "[health_text]") {
  run_progress now{phase::test, 1, 3, 4, 8};
  CATCH_CHECK(
    has(health_progress(now), "progress  test, epoch 2 of 3, step 4 of 8;"));
  now.work = "evaluate validation";
  CATCH_CHECK(health_progress(now)
              == "progress  evaluate validation, step 4 of 8\n");
}

CATCH_TEST_CASE("a run of which a peer is hard to reach is not well",
                "[health_text]") {
  const auto code_of = [](actor_state connections) {
    run_health run;
    run.daemons.emplace_back().peers = {{.name = "b", .state = connections}};
    return health_code(run);
  };
  for (auto well :
       {actor_state::running, actor_state::starting, actor_state::stopped})
    CATCH_CHECK(code_of(well) == 0);
  for (auto ill :
       {actor_state::waiting, actor_state::restarting, actor_state::failed})
    CATCH_CHECK(code_of(ill) == 3);
}

CATCH_TEST_CASE("a screen adds up the actors of a kind", "[health_text]") {
  run_health run;
  run.run = "r";
  run.verdict.sentence = "well balanced";
  for (const auto* name : {"a", "b"}) {
    auto& daemon = run.daemons.emplace_back();
    daemon.daemon = name;
    daemon.cores = 1.5;
    daemon.memory_bytes = 250'000'000;
    daemon.received_per_second = 2e6;
    daemon.actors = {{.kind = actor_kind::sampler,
                      .workers = 3,
                      .state = actor_state::running,
                      .items_per_second = 10,
                      .busy = 0.5,
                      .p99_latency = 0.002}};
  }
  auto& odd = run.daemons[1];
  odd.age = 7;
  odd.actors.push_back({.kind = actor_kind::sampler,
                        .workers = 2,
                        .state = actor_state::starved,
                        .items_per_second = 5,
                        .starved = 1,
                        .p99_latency = 0.004,
                        .restarts = 9,
                        .recent_restarts = 2,
                        .last_error = "torn"});
  odd.actors.push_back({.kind = actor_kind::dispatcher,
                        .rank = 0,
                        .state = actor_state::failed,
                        .in_state = 3,
                        .credit_batches = 3,
                        .most_batches = 8,
                        .last_error = "no disk\nleft"});
  odd.peers = {{.name = "a",
                .state = actor_state::waiting,
                .in_state = 4,
                .why = "no signs of life"}};
  odd.long_work = {"sampler is at one batch for 20 s"};
  CATCH_CHECK(
    run_screen(run, "goes on after b was lost")
    == "run       r\n"
       "state     running: goes on after b was lost\n"
       "verdict   well balanced\n"
       "\n"
       "trouble   sampler on b: 2 workers replaced: torn\n"
       "          dispatcher 0 on b: failed for 3 s: no disk\\nleft\n"
       "          b to a: waiting for 4 s: no signs of life\n"
       "          b: sampler is at one batch for 20 s\n"
       "\n"
       "actors           workers busy% input% credit% reply%  items/s  "
       "p99 ms  state\n"
       "sampler                8    38     25       0      0     25.0     "
       "4.0  6 running, 2 starved\n"
       "dispatcher             1     0      0       0      0      0.0     "
       "0.0  failed\n"
       "\n"
       "daemon             cpus   mem MB  in MB/s out MB/s disk MB/s    credit "
       "  told\n"
       "a                   1.5      250      2.0      0.0       0.0         - "
       "   0 s\n"
       "b                   1.5      250      2.0      0.0       0.0    3 of 8 "
       "   7 s\n"
       "\n"
       "`--actors` shows each actor of each daemon\n");
}

CATCH_TEST_CASE("a screen stays one, however large a cluster",
                "[health_text]") {
  run_health run;
  run.left_out = 100;
  for (auto d = 0; d < 200; ++d) {
    auto& daemon = run.daemons.emplace_back();
    daemon.daemon = std::string(200, 'd');
    for (auto kind = 1; kind <= static_cast<int>(actor_kind::conductor); ++kind)
      daemon.actors.push_back(
        {.kind = static_cast<actor_kind>(kind), .state = actor_state::failed});
  }
  const auto text = run_screen(run, {});
  CATCH_CHECK(std::ranges::count(text, '\n') < 60);
  CATCH_CHECK(has(text, "2788 more\n"));
  CATCH_CHECK(has(text, "288 more daemons\n"));
}
