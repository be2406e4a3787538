#include "actors/transport/sockets/awake_clock.hpp"

#include "tests/support/catch.hpp"

#include <chrono>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// An arbitrary time: a look at time 0 would be none.
const session_time looked_first{1h};

} // namespace

CATCH_TEST_CASE("the clock of a transport goes on while it is looked at",
                "[transport]") {
  awake_clock clock;
  for (auto time = 0ms; time < 1min; time += awake_clock::longest_gap)
    CATCH_CHECK(clock.look(looked_first + time) == looked_first + time);
}

CATCH_TEST_CASE("the clock of a transport stands still while nobody looks",
                "[transport]") {
  awake_clock clock;
  clock.look(looked_first);
  const auto after = looked_first + awake_clock::longest_gap;
  CATCH_CHECK(clock.look(looked_first + 8h) == after);
  CATCH_CHECK(clock.look(looked_first + 8h + 1s) == after + 1s);
  CATCH_CHECK(clock.look(looked_first + 9h)
              == after + 1s + awake_clock::longest_gap);
  // What it says of the future is of use to others, who look at another one.
  CATCH_CHECK(clock.real(clock.look(looked_first + 9h) + 5s)
              == looked_first + 9h + 5s);
  CATCH_CHECK(clock.real(session_time::max()) == session_time::max());
}
