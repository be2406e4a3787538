#include "actors/cluster/health/limit_watch.hpp"

#include "tests/support/catch.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// Verdicts for so many seconds each; returns when which one was told of.
std::vector<std::pair<int, std::string>>
told_of(const std::vector<std::pair<std::string, int>>& verdicts) {
  limit_watch watch;
  std::vector<std::pair<int, std::string>> out;
  auto second = 0;
  for (const auto& [limit, seconds] : verdicts)
    for (auto end = second + seconds; second < end; ++second)
      if (const auto told = watch.change(
            {limit, limit + " limits", {}},
            limit_watch::clock::time_point{10h + std::chrono::seconds{second}}))
        out.emplace_back(second, *told);
  return out;
}

} // namespace

CATCH_TEST_CASE("a limit is told of once it has settled", "[cluster][health]") {
  using told = std::vector<std::pair<int, std::string>>;
  CATCH_CHECK(told_of({{"", 30}}).empty());
  CATCH_CHECK(told_of({{"sampler", 10}, {"fetcher", 10}}).empty());
  CATCH_CHECK(told_of({{"sampler", 3600}}) == told{{10, "sampler limits"}});
  // What comes and goes is not told of, and what comes back is nothing new.
  CATCH_CHECK(told_of({{"sampler", 100}, {"fetcher", 5}, {"sampler", 100}})
              == told{{10, "sampler limits"}});
  CATCH_CHECK(told_of({{"", 5}, {"sampler", 100}, {"trainer", 100}})
              == told{{15, "sampler limits"}, {115, "trainer limits"}});
  // Once a minute at the most.
  CATCH_CHECK(told_of({{"sampler", 20}, {"fetcher", 20}, {"trainer", 60}})
              == told{{10, "sampler limits"}, {70, "trainer limits"}});
}

} // namespace graphmill::test
