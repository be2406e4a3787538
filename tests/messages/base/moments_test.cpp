#include "messages/base/moments.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// Nothing waits before a test, nor after it.
struct no_moments {
  no_moments() { forget_moments(); }
  ~no_moments() { forget_moments(); }
};

std::chrono::steady_clock::time_point in_an_hour() {
  return std::chrono::steady_clock::now() + 1h;
}

} // namespace

CATCH_TEST_CASE("a moment is taken once, by whoever reaches it",
                "[messages][moments]") {
  const no_moments clean;
  int came = 0;
  now_at(moment::exchange);
  await_moment(
    moment::exchange, [&came] { ++came; }, in_an_hour());
  now_at(moment::checkpoint);
  CATCH_CHECK(came == 0);
  now_at(moment::exchange);
  now_at(moment::exchange);
  CATCH_CHECK(came == 1);
}

CATCH_TEST_CASE("of many threads at a moment one takes it",
                "[messages][moments]") {
  const no_moments clean;
  std::atomic<int> came{0};
  await_moment(
    moment::mid_epoch, [&came] { ++came; }, in_an_hour());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int n = 0; n < 1000; ++n)
        now_at(moment::mid_epoch);
    });
  for (auto& thread : threads)
    thread.join();
  CATCH_CHECK(came == 1);
}

CATCH_TEST_CASE("what waited for too long, or is forgotten, does not happen",
                "[messages][moments]") {
  const no_moments clean;
  int came = 0;
  await_moment(
    moment::drain, [&came] { ++came; }, std::chrono::steady_clock::now() - 1ms);
  now_at(moment::drain);
  await_moment(
    moment::drain, [&came] { ++came; }, in_an_hour());
  forget_moments();
  now_at(moment::drain);
  CATCH_CHECK(came == 0);
  // The later one takes the place of the one before.
  await_moment(
    moment::drain, [&came] { came += 10; }, in_an_hour());
  await_moment(
    moment::drain, [&came] { came += 100; }, in_an_hour());
  now_at(moment::drain);
  CATCH_CHECK(came == 100);
}

CATCH_TEST_CASE("moments have names", "[messages][moments]") {
  for (std::size_t i = 0; i < moment_count; ++i) {
    const auto which = static_cast<moment>(i);
    CATCH_CHECK(moment_named(to_string(which)) == which);
  }
  CATCH_CHECK(to_string(moment::filling_caches) == "filling_caches");
  CATCH_CHECK_FALSE(moment_named("lunch"));
}
