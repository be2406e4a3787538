#include "actors/commands/text/health_text.hpp"

#include "messages/wire/health.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

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
