#include "actors/cluster/base/generation_fence.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("nobody obeys a coordinator that another one has followed",
                "[fence]") {
  generation_fence fence;
  CATCH_CHECK(fence.meet("a", 3));
  CATCH_CHECK(fence.check("a", 3));
  CATCH_CHECK(fence.meet("a", 5));
  const auto refused = error_of(fence.check("a", 4));
  CATCH_CHECK(refused.code == ec::superseded);
  CATCH_CHECK(refused.message
              == "coordinator 4 of this cluster has been replaced by "
                 "coordinator 5: no daemon obeys it any more, and it ends");
  CATCH_CHECK(error_of(fence.meet("a", 3)).code == ec::superseded);
  CATCH_CHECK(fence.meet("a", 5));
  CATCH_CHECK(fence.meet("a", 6));
  CATCH_CHECK(error_of(fence.check("a", 5)).code == ec::superseded);
}

CATCH_TEST_CASE("a daemon takes orders from its own cluster", "[fence]") {
  generation_fence fence;
  CATCH_CHECK(fence.check("a", 2)); // None was met yet.
  CATCH_CHECK(fence.check("b", 9)); // Who it says it is binds nobody.
  CATCH_CHECK(fence.meet("a", 2));
  CATCH_CHECK(error_of(fence.check("b", 9)).code == ec::permission);
  CATCH_CHECK(error_of(fence.check("", 0)).code == ec::permission);
  // A coordinator with a new state folder, where the daemon was told to go.
  CATCH_CHECK(fence.meet("b", 1));
  CATCH_CHECK(fence.check("b", 1));
  CATCH_CHECK(error_of(fence.check("a", 2)).code == ec::permission);
}

CATCH_TEST_CASE("a coordinator that does not count is taken as it is",
                "[fence]") {
  generation_fence fence;
  CATCH_CHECK(fence.check("", 0));
  CATCH_CHECK(fence.meet("", 0));
  CATCH_CHECK(fence.check("a", 1));
}

CATCH_TEST_CASE("who comes with a high count does not shut out the coordinator",
                "[fence]") {
  generation_fence fence;
  CATCH_CHECK(fence.check("a", 1'000'000'000'000)); // Before one was met,
  CATCH_CHECK(fence.meet("a", 3));
  CATCH_CHECK(fence.check("a", 1'000'000'000'000)); // and after.
  CATCH_CHECK(fence.check("a", 3));
  CATCH_CHECK(fence.meet("a", 3));
  CATCH_CHECK(error_of(fence.check("a", 2)).code == ec::superseded);
}
