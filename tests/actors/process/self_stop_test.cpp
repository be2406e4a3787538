#include "actors/process/self_stop.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"

#include <sys/wait.h>

using namespace graphmill;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a process stops itself and goes on", "[self_stop]") {
  const auto child =
    test::start_child([] { return stop_this_process(2s) ? 7 : 1; });
  // It is seen to be stopped, then to go on, and then to end by itself.
  int status = 0;
  CATCH_REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  CATCH_CHECK(WIFSTOPPED(status));
  CATCH_REQUIRE(::waitpid(child, &status, WCONTINUED) == child);
  if (WIFCONTINUED(status))
    status = test::wait_for(child);
  CATCH_CHECK(WIFEXITED(status));
  CATCH_CHECK(WEXITSTATUS(status) == 7);
}
