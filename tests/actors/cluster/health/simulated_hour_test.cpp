#include "actors/cluster/health/health_keeper.hpp"
#include "actors/cluster/health/log_collector.hpp"
#include "pipelines/figures/cluster_history.hpp"
#include "pipelines/figures/event_ring.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

// An hour of a large cluster, by the test's own clock. Daemons tell, and the
// coordinator is asked, less often than once a second, so that the test is
// short: what is kept is replaced by each report, and grows with none.
constexpr int hour_daemons = 200;
constexpr int hour_actors = 50;
constexpr int hour_seconds = 3600;
constexpr int seconds_a_report = 30;
constexpr int seconds_a_question = 60;
constexpr int seconds_a_log_round = 4;

const std::chrono::steady_clock::time_point hour_began{10h};

std::vector<std::string> hour_names() {
  std::vector<std::string> out;
  for (int d = 0; d < hour_daemons; ++d)
    out.push_back(fmt::format("d{:03}", d));
  return out;
}

/// What a daemon tells: actors of all kinds in turn, each with a trouble of its
/// own.
daemon_health hour_report(const std::string& daemon, int second) {
  daemon_health out;
  out.daemon = daemon;
  out.run = "20261123-070000";
  out.cores = 1.5;
  for (int a = 0; a < hour_actors; ++a) {
    auto& actor = out.actors.emplace_back();
    actor.kind = static_cast<actor_kind>(1 + a % 14);
    actor.state = actor_state::running;
    actor.busy = 0.5;
    actor.starved = 0.25;
    actor.answers = 10;
    actor.mean_latency = 0.001;
    actor.items = static_cast<std::uint64_t>(second);
    actor.last_error = fmt::format("error {} of second {}", a, second);
  }
  return out;
}

std::vector<daemon_status>
hour_statuses(const std::vector<std::string>& names) {
  std::vector<daemon_status> out(names.size());
  for (std::size_t d = 0; d < names.size(); ++d)
    out[d].name = names[d];
  return out;
}

/// So many lines, all of the same size, as the answer to a question.
log_reply hour_page(const log_collector::question& asked, int lines) {
  log_reply out;
  out.next = asked.request.after + static_cast<std::uint64_t>(lines);
  for (auto at = asked.request.after; at < out.next; ++at)
    out.lines.push_back({unix_time{1}, log_level::info, asked.daemon,
                         "20261123-070000", "", "agent",
                         fmt::format("line {:055}", at)});
  return out;
}

/// How many lines of each daemon a ring has, and their bytes.
struct kept_lines {
  std::map<std::string, int> of_daemon;
  std::size_t bytes = 0;
};
kept_lines lines_in(const log_ring& ring) {
  kept_lines out;
  log_request asked;
  for (auto more = true; more;) {
    const auto page = ring.since(asked);
    for (const auto& line : page.lines) {
      ++out.of_daemon[line.daemon];
      out.bytes += line.bytes();
    }
    more = page.more && page.next > asked.after;
    asked.after = page.next;
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("an hour of 200 daemons with 50 actors each has a bound",
                "[cluster][health]") {
  const auto names = hour_names();
  health_keeper keeper;
  keeper.begin("20261123-070000", names, 1, hour_daemons);
  keeper.led({}, hour_began);
  cluster_history history;
  event_ring events;
  cluster_figures figures;
  figures.status.daemons = hour_statuses(names);
  figures.runs.emplace_back();
  for (int second = 0; second < hour_seconds + 100; ++second) {
    const auto now = hour_began + std::chrono::seconds{second};
    if (second % seconds_a_report == 0)
      for (const auto& name : names)
        keeper.take(hour_report(name, second), now);
    if (second % seconds_a_question == 0)
      figures.runs.front().health = keeper.tell({}, now);
    figures.taken = unix_time{1000 * std::int64_t{second}};
    history.take(figures);
    events.add({.text = fmt::format("event {}", second)});
  }
  CATCH_CHECK(history.ticks() == cluster_history::most_ticks);
  CATCH_CHECK(history.bytes() <= cluster_history::most_bytes);
  CATCH_CHECK(events.since(0).events.size() == event_ring::most);
  // Of each daemon there is one report, and one average.
  const auto whole = keeper.whole();
  CATCH_REQUIRE(whole.daemons.size() == std::size_t{hour_daemons});
  for (const auto& daemon : whole.daemons)
    CATCH_CHECK(daemon.actors.size() == std::size_t{hour_actors});
  CATCH_CHECK(whole.daemons.back().actors.back().busy == Approx(0.5));
  CATCH_CHECK(whole.daemons.back().actors.back().answers == 10U * 124U);
  // What did not fit in an answer is counted, and is told of by name.
  const auto end = hour_began + std::chrono::seconds{hour_seconds + 95};
  const auto told = keeper.tell({}, end);
  CATCH_CHECK(told.left_out > 0);
  CATCH_CHECK(told.left_out + told.daemons.size() == std::size_t{hour_daemons});
  CATCH_CHECK(told.silent.empty());
  CATCH_CHECK(encode(told).byte_size() <= max_frame_bytes);
  const auto last = keeper.tell({{}, names.back()}, end);
  CATCH_REQUIRE(last.daemons.size() == 1);
  CATCH_CHECK(last.daemons[0].actors[7].last_error == "error 7 of second 3690");
}

CATCH_TEST_CASE("an hour of the logs of 200 daemons has a bound",
                "[cluster][logs]") {
  const auto names = hour_names();
  const auto statuses = hour_statuses(names);
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  for (int second = 0; second < hour_seconds; second += seconds_a_log_round)
    for (const auto& asked : logs.begin(
           statuses, names[0], hour_began + std::chrono::seconds{second}))
      // One of them logs twenty times as much as any other.
      logs.answered(asked, hour_page(asked, asked.daemon == names[1] ? 20 : 1));
  const auto kept = lines_in(*ring);
  CATCH_CHECK(kept.bytes <= log_ring::of_cluster);
  CATCH_CHECK(kept.bytes >= log_ring::of_cluster - 1000); // It is full.
  // It has no more of the room than each of the others.
  CATCH_REQUIRE(kept.of_daemon.size() == std::size_t{hour_daemons - 1});
  const auto [least, most] = std::ranges::minmax_element(
    kept.of_daemon, {}, &std::pair<const std::string, int>::second);
  CATCH_CHECK(most->second - least->second <= 1);
  CATCH_CHECK(least->second > 100);
}

} // namespace graphmill::test
