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
