#include "actors/commands/text/follow.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("what is followed may be out of reach for a while",
                "[commands][follow]") {
  signal_watch signals;
  int looks = 0;
  const auto look = [&looks]() -> result<bool> {
    switch (++looks) {
    case 2:
      return fail(ec::unavailable, "nobody is there");
    case 3:
      return fail(ec::timeout, "nobody answers");
    default:
      return looks == 5;
    }
  };
  CATCH_CHECK(value_of(follow(look, signals, {.interval = 0ms})));
  CATCH_CHECK(looks == 5);
}

CATCH_TEST_CASE("what was stopped for longer than its patience looks again",
                "[commands][follow]") {
  signal_watch signals;
  int looks = 0;
  const auto look = [&looks]() -> result<bool> {
    if (++looks == 2)
      return true;
    std::this_thread::sleep_for(20ms); // As a stop in the midst of it would.
    return fail(ec::timeout, "nobody answers");
  };
  const follow_pace pace{.interval = 0ms, .patience = 10ms};
  CATCH_CHECK(value_of(follow(look, signals, pace)));
  CATCH_CHECK(looks == 2);
}

CATCH_TEST_CASE("following ends with what does not pass",
                "[commands][follow]") {
  signal_watch signals;
  int looks = 0;
  const auto fails_with = [&looks](ec code) {
    return [&looks, code]() -> result<bool> {
      ++looks;
      return fail(code, "no");
    };
  };
  CATCH_CHECK(error_of(follow(fails_with(ec::not_found), signals)).code
              == ec::not_found);
  const follow_pace impatient{.interval = 0ms, .patience = 0ms};
  CATCH_CHECK(
    error_of(follow(fails_with(ec::unavailable), signals, impatient)).code
    == ec::unavailable);
  CATCH_CHECK(looks == 2);
}

CATCH_TEST_CASE("a signal ends following", "[commands][follow]") {
  signal_watch signals;
  int looks = 0;
  const auto look = [&looks]() -> result<bool> {
    ++looks;
    std::raise(SIGTERM);
    return false;
  };
  CATCH_CHECK_FALSE(value_of(follow(look, signals)));
  CATCH_CHECK(looks == 1);
}

CATCH_TEST_CASE(
  "following ends when the reader is gone, though there is nothing "
  "to print",
  "[commands][follow]") {
  signal_watch signals;
  int ends[2];
  CATCH_REQUIRE(::pipe(ends) == 0);
  std::fflush(stdout);
  const auto kept = ::dup(STDOUT_FILENO);
  CATCH_REQUIRE(kept >= 0);
  CATCH_REQUIRE(::dup2(ends[1], STDOUT_FILENO) >= 0);
  ::close(ends[1]);
  int looks = 0;
  const auto look = [&]() -> result<bool> {
    if (++looks == 2)
      ::close(ends[0]);
    return false;
  };
  const auto over = follow(look, signals, {.interval = 0ms});
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  CATCH_CHECK(value_of(over));
  CATCH_CHECK(looks == 2);
}
