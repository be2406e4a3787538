#include "actors/cluster/health/log_collector.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

const log_collector::clock::time_point collected_at{1h};

std::vector<daemon_status> three_daemons() {
  std::vector<daemon_status> out(3);
  out[0].name = "a";
  out[1].name = "b";
  out[1].address = "tcp://b:1";
  out[2].name = "c";
  out[2].address = "tcp://c:1";
  out[2].state = daemon_state::lost;
  return out;
}

log_reply page_of(std::uint64_t next, const std::string& text) {
  log_reply out;
  out.next = next;
  out.lines = {
    {unix_time{5}, log_level::info, "somebody", "r", "", "agent", text}};
  return out;
}

} // namespace

CATCH_TEST_CASE("lines of others are collected in rounds", "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  CATCH_CHECK(logs.due(collected_at));
  auto asked = logs.begin(three_daemons(), "a", collected_at);
  CATCH_REQUIRE(asked.size() == 1); // Neither itself nor who is lost.
  CATCH_CHECK(asked[0].address == "tcp://b:1");
  CATCH_CHECK(asked[0].request.after == 0);
  CATCH_CHECK(logs.begun() == 1);
  CATCH_CHECK(logs.collected() == 0);
  CATCH_CHECK_FALSE(logs.due(collected_at + 1h)); // The round is on.
  logs.answered(asked[0], page_of(7, "one\x1b[2J"));
  CATCH_CHECK(logs.collected() == 1);
  const auto page = ring->since({.run = "r"});
  CATCH_REQUIRE(page.lines.size() == 1);
  CATCH_CHECK(page.lines[0].daemon == "b"); // Whoever it says it is.
  CATCH_CHECK(page.lines[0].text == "one\\u001b[2J");
  CATCH_CHECK_FALSE(logs.due(collected_at + 999ms));
  CATCH_CHECK(logs.due(collected_at + 1s));
  logs.hurry();
  CATCH_CHECK_FALSE(logs.due(collected_at + 99ms));
  CATCH_CHECK(logs.due(collected_at + 100ms));
  asked = logs.begin(three_daemons(), "a", collected_at + 1s);
  CATCH_CHECK(asked[0].request.after == 7);
  // Who does not answer is asked for the same again.
  logs.answered(asked[0], fail(ec::timeout, "nobody answers"));
  CATCH_CHECK(logs.collected() == 2);
  asked = logs.begin(three_daemons(), "a", collected_at + 2s);
  CATCH_CHECK(asked[0].request.after == 7);
}

CATCH_TEST_CASE("what is missing of a log is a line of it", "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  const auto asked = logs.begin(three_daemons(), "a", collected_at);
  auto page = page_of(20, "later");
  page.missing = 12;
  page.more = true;
  logs.answered(asked[0], page);
  const auto kept = ring->since({.daemon = "b"});
  CATCH_REQUIRE(kept.lines.size() == 2);
  CATCH_CHECK(kept.lines[0].text
              == "12 lines of its log came too fast to be collected");
  CATCH_CHECK(kept.lines[0].level == log_level::warn);
  CATCH_CHECK(kept.lines[1].text == "later");
  CATCH_CHECK(logs.collected() == 0); // It has more.
}

CATCH_TEST_CASE("a daemon that was started anew is asked from the begin",
                "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  auto asked = logs.begin(three_daemons(), "a", collected_at);
  logs.answered(asked[0], page_of(7, "one"));
  asked = logs.begin(three_daemons(), "a", collected_at + 1s);
  logs.forget("b");
  logs.answered(asked[0], page_of(9, "of the one before"));
  CATCH_CHECK(ring->since({}).lines.size() == 1);
  asked = logs.begin(three_daemons(), "a", collected_at + 2s);
  CATCH_CHECK(asked[0].request.after == 0);
}

CATCH_TEST_CASE("a daemon that does not answer holds up no other one",
                "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  auto daemons = three_daemons();
  daemons[2].state = daemon_state::ready;
  const auto first = logs.begin(daemons, "a", collected_at);
  CATCH_REQUIRE(first.size() == 2);
  CATCH_CHECK_FALSE(logs.due(collected_at + 1s)); // Nobody has answered.
  logs.answered(first[0], page_of(7, "one"));
  CATCH_CHECK(logs.due(collected_at + 1s));
  auto asked = logs.begin(daemons, "a", collected_at + 1s);
  CATCH_REQUIRE(asked.size() == 1);
  CATCH_CHECK(asked[0].daemon == "b");
  logs.answered(asked[0], page_of(8, "two"));
  CATCH_CHECK(ring->since({.daemon = "b"}).lines.size() == 2);
  // What c has is not known, of any round.
  CATCH_CHECK(logs.collected() == 0);
  logs.answered(first[1], page_of(3, "late"));
  CATCH_CHECK(logs.collected() == 1); // It was not asked in the second one.
  asked = logs.begin(daemons, "a", collected_at + 2s);
  CATCH_REQUIRE(asked.size() == 2);
  // Who is lost is waited for no more.
  daemons[2].state = daemon_state::lost;
  logs.answered(asked[0], page_of(9, "three"));
  CATCH_CHECK(logs.collected() == 1);
  asked = logs.begin(daemons, "a", collected_at + 3s);
  CATCH_REQUIRE(asked.size() == 1);
  CATCH_CHECK(logs.collected() == 3);
  logs.answered(asked[0], page_of(9, "four"));
  CATCH_CHECK(logs.collected() == 4);
}

CATCH_TEST_CASE("an answer of the daemon before counts for nothing",
                "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  const auto before = logs.begin(three_daemons(), "a", collected_at);
  logs.forget("b");
  const auto asked = logs.begin(three_daemons(), "a", collected_at + 1s);
  CATCH_REQUIRE(asked.size() == 1);
  CATCH_CHECK(asked[0].request.after == 0); // As it was before.
  logs.answered(before[0], page_of(50, "of the one before"));
  CATCH_CHECK(ring->since({}).lines.empty());
  logs.answered(asked[0], page_of(2, "of this one"));
  CATCH_CHECK(ring->since({}).lines.size() == 1);
  CATCH_CHECK(
    logs.begin(three_daemons(), "a", collected_at + 2s)[0].request.after == 2);
}

CATCH_TEST_CASE("those who are behind are asked a few at a time",
                "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  std::vector<daemon_status> many(201);
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i].name = fmt::format("d{:03}", i);
  const auto& self = many[0].name;
  // As after a restart of the coordinator: nobody has been asked before.
  std::set<std::string> asked_so_far;
  std::size_t rounds = 0;
  auto now = collected_at;
  for (; asked_so_far.size() < 200; ++rounds, now += 1s) {
    CATCH_REQUIRE(rounds < 200);
    std::size_t behind = 0;
    for (const auto& asked : logs.begin(many, self, now)) {
      const auto is_new = asked_so_far.insert(asked.daemon).second;
      behind += is_new;
      CATCH_CHECK(asked.request.after == (is_new ? 0 : 1));
      logs.answered(asked, page_of(1, "all"));
    }
    CATCH_CHECK(behind
                == std::min(log_collector::most_behind, 200 - 16 * rounds));
  }
  CATCH_CHECK(rounds == 13); // 12 of 16, and the last 8.
  CATCH_CHECK(logs.collected() == logs.begun());
  // None of them is behind now: all are asked at once.
  CATCH_CHECK(logs.begin(many, self, now).size() == 200);
}

CATCH_TEST_CASE("who has always more takes turns with others",
                "[cluster][logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  log_collector logs{ring};
  std::vector<daemon_status> many(log_collector::most_behind + 3);
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i].name = fmt::format("d{:02}", i);
  const auto names = [](const std::vector<log_collector::question>& asked) {
    std::vector<std::string> out;
    for (const auto& one : asked)
      out.push_back(one.daemon);
    return out;
  };
  auto full = page_of(9, "a part of it");
  full.more = true;
  // d00 is the coordinator's own; d01 to d18 all have more.
  auto asked = logs.begin(many, "d00", collected_at);
  CATCH_REQUIRE(asked.size() == log_collector::most_behind);
  CATCH_CHECK(asked.back().daemon == "d16");
  for (std::size_t i = 1; i < asked.size(); ++i)
    logs.answered(asked[i], full);
  // d01 does not answer, and keeps one of 16 places.
  const auto silent = asked[0];
  asked = logs.begin(many, "d00", collected_at + 1s);
  CATCH_REQUIRE(asked.size() == log_collector::most_behind - 1);
  CATCH_CHECK(names(asked)
              == std::vector<std::string>{"d02", "d03", "d04", "d05", "d06",
                                          "d07", "d08", "d09", "d10", "d11",
                                          "d12", "d13", "d14", "d17", "d18"});
  for (const auto& one : asked)
    logs.answered(one, full);
  logs.answered(silent, fail(ec::timeout, "nobody answers"));
  // Who was asked the longest ago comes first.
  asked = logs.begin(many, "d00", collected_at + 2s);
  CATCH_CHECK(names(asked)
              == std::vector<std::string>{
                "d01", "d02", "d03", "d04", "d05", "d06", "d07", "d08", "d09",
                "d10", "d11", "d12", "d13", "d14", "d15", "d16"});
}

} // namespace graphmill::test
