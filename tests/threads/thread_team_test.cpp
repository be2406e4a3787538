#include "pipelines/kernels/thread_team.hpp"
#include "tests/support/catch.hpp"

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("a team does every row once, whatever its size",
                "[threads][team]") {
  for (unsigned threads : {1u, 2u, 4u}) {
    thread_team team{threads};
    for (int round = 0; round < 200; ++round) {
      std::vector<int> seen(static_cast<std::size_t>(round * 7), 0);
      team.for_pieces(
        round * 7, 5,
        [&seen](std::int64_t, std::int64_t from, std::int64_t to) {
          for (auto i = from; i < to; ++i)
            ++seen[static_cast<std::size_t>(i)];
        });
      CATCH_REQUIRE(std::accumulate(seen.begin(), seen.end(), 0) == round * 7);
    }
  }
}

CATCH_TEST_CASE("the work of helpers is counted", "[threads][team]") {
  thread_team alone{1};
  thread_team team{2};
  for (auto* each : {&alone, &team}) {
    std::atomic<int> arrived{0};
    const auto both = each == &team ? 2 : 1;
    // No piece ends before a helper has taken the other one.
    each->for_pieces(both, 1, [&](std::int64_t, std::int64_t, std::int64_t) {
      ++arrived;
      while (arrived < both)
        std::this_thread::yield();
    });
  }
  CATCH_CHECK(alone.helper_cpu().count() == 0);
  CATCH_CHECK(team.helper_cpu().count() > 0);
}

CATCH_TEST_CASE("what a piece throws is thrown on, and the team goes on",
                "[threads][team]") {
  thread_team team{3};
  const auto thrower = [](std::int64_t piece, std::int64_t, std::int64_t) {
    if (piece == 17)
      throw std::runtime_error("piece 17");
  };
  CATCH_CHECK_THROWS_AS(team.for_pieces(100, 1, thrower), std::runtime_error);
  std::vector<int> seen(100, 0);
  team.for_pieces(100, 1,
                  [&seen](std::int64_t piece, std::int64_t, std::int64_t) {
                    seen[static_cast<std::size_t>(piece)] = 1;
                  });
  CATCH_CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 100);
}
