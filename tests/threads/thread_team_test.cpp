#include "pipelines/compute/thread_team.hpp"
#include "tests/support/catch.hpp"

#include <numeric>
#include <stdexcept>
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
