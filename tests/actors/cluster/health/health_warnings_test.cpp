#include "actors/cluster/health/health_warnings.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;
using sentences = std::vector<std::string>;

const std::chrono::steady_clock::time_point warned_at{10h};

daemon_health troubled(std::uint64_t restarts,
                       actor_state state = actor_state::running) {
  daemon_health out;
  out.daemon = "a";
  auto& actor = out.actors.emplace_back();
  actor.kind = actor_kind::sampler;
  actor.restarts = restarts;
  actor.state = state;
  actor.last_error = "out of memory";
  return out;
}

sentences replaced(const std::string& count) {
  return {fmt::format("the sampler at daemon \"a\" has had {} replaced so far, "
                      "the last because: out of memory",
                      count)};
}

} // namespace

CATCH_TEST_CASE("workers that die are told of once in a while",
                "[cluster][health]") {
  health_warnings warnings;
  CATCH_CHECK(warnings.in(troubled(0), warned_at).empty());
  CATCH_CHECK(warnings.in(troubled(1), warned_at + 1s) == replaced("1 worker"));
  CATCH_CHECK(warnings.in(troubled(1), warned_at + 2s).empty());
  CATCH_CHECK(warnings.in(troubled(70), warned_at + 3s).empty());
  // Those that were not told of are not forgotten, although none died since.
  CATCH_CHECK(warnings.in(troubled(70), warned_at + 31s)
              == replaced("70 workers"));
  CATCH_CHECK(warnings.in(troubled(70), warned_at + 99s).empty());
}

CATCH_TEST_CASE("an actor that fails is told of once", "[cluster][health]") {
  health_warnings warnings;
  const auto failed = troubled(0, actor_state::failed);
  CATCH_CHECK(
    warnings.in(failed, warned_at)
    == sentences{"the sampler at daemon \"a\" has failed: out of memory"});
  CATCH_CHECK(warnings.in(failed, warned_at + 1h).empty());
}

CATCH_TEST_CASE("work that takes too long is told of, with its daemon",
                "[cluster][health]") {
  health_warnings warnings;
  daemon_health report;
  report.daemon = "a";
  report.long_work = {"the reader waits for 31 s", "and another one"};
  const sentences told{"at daemon \"a\": the reader waits for 31 s"};
  CATCH_CHECK(warnings.in(report, warned_at) == told);
  CATCH_CHECK(warnings.in(report, warned_at + 29s).empty());
  // The same sentence is of the same piece of work, which is over.
  CATCH_CHECK(warnings.in(report, warned_at + 30s).empty());
  report.long_work.front() = "the reader waits for 62 s";
  CATCH_CHECK(warnings.in(report, warned_at + 31s)
              == sentences{"at daemon \"a\": the reader waits for 62 s"});
}

CATCH_TEST_CASE("many troubles are told of one after the other",
                "[cluster][health]") {
  health_warnings warnings;
  daemon_health report;
  report.daemon = "a";
  for (std::int32_t rank = 0; rank < 10; ++rank) {
    auto trainer = troubled(1).actors.front();
    trainer.kind = actor_kind::trainer;
    trainer.rank = rank;
    report.actors.push_back(std::move(trainer));
  }
  std::vector<std::size_t> told;
  for (int second = 0; second < 10; ++second)
    told.push_back(
      warnings.in(report, warned_at + std::chrono::seconds{second}).size());
  CATCH_CHECK(told == std::vector<std::size_t>{8, 0, 0, 1, 0, 0, 1, 0, 0, 0});
}

CATCH_TEST_CASE("a member that makes up actors fills no events",
                "[cluster][health]") {
  health_warnings warnings;
  std::size_t told = 0;
  for (int second = 0; second < 60; ++second) {
    auto report = troubled(1, actor_state::failed);
    report.actors.resize(health_limits::actors, report.actors.front());
    for (std::size_t i = 0; i < report.actors.size(); ++i)
      report.actors[i].rank =
        static_cast<std::int32_t>(1000 * second) + static_cast<std::int32_t>(i);
    told +=
      warnings.in(report, warned_at + std::chrono::seconds{second}).size();
  }
  CATCH_CHECK(told <= 8 + 20);
}

} // namespace graphmill::test
