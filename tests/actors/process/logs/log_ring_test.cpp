#include "actors/process/logs/log_ring.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <string>

namespace graphmill::test {

namespace {

log_line numbered(int number, const std::string& run = "r",
                  log_level level = log_level::info) {
  return {
    unix_time{number},     level, number % 2 == 0 ? "a" : "b", run, "", "run",
    std::to_string(number)};
}

std::string texts(const log_reply& page) {
  std::string out;
  for (const auto& line : page.lines)
    out += line.text + " ";
  return out;
}

} // namespace

CATCH_TEST_CASE("a ring hands over lines by a cursor", "[logs]") {
  log_ring ring{log_ring::of_daemon};
  CATCH_CHECK(ring.since({}).next == 0);
  for (int i = 0; i < 4; ++i)
    ring.add(numbered(i));
  const auto first = ring.since({});
  CATCH_CHECK(texts(first) == "0 1 2 3 ");
  CATCH_CHECK(first.next == 4);
  CATCH_CHECK_FALSE(first.more);
  CATCH_CHECK(texts(ring.since({.after = 4})) == "");
  ring.add(numbered(4));
  CATCH_CHECK(texts(ring.since({.after = 4})) == "4 ");
  CATCH_CHECK(texts(ring.since({.after = 2})) == "2 3 4 ");
  // It was given by another ring, which had more.
  CATCH_CHECK(texts(ring.since({.after = 9})) == "0 1 2 3 4 ");
}

CATCH_TEST_CASE("a ring has as many bytes as it may, and tells what is missing",
                "[logs]") {
  // Each line takes 256, and one for each of: daemon, run, digit; 3 for "run".
  const auto each = numbered(0).bytes();
  CATCH_CHECK(each == 256 + 6);
  log_ring ring{3 * each};
  for (int i = 0; i < 3; ++i)
    ring.add(numbered(i));
  CATCH_CHECK(texts(ring.since({})) == "0 1 2 ");
  for (int i = 3; i < 8; ++i)
    ring.add(numbered(i));
  const auto page = ring.since({.after = 2});
  CATCH_CHECK(texts(page) == "5 6 7 ");
  CATCH_CHECK(page.missing == 3); // 2, 3 and 4.
  CATCH_CHECK(page.next == 8);
  CATCH_CHECK(ring.since({}).missing == 0);
  auto longer = numbered(8);
  longer.text = std::string(4 * each, 'x');
  ring.add(longer);
  CATCH_CHECK(ring.since({.after = 5}).lines.size() == 1);
  CATCH_CHECK(ring.since({.after = 5}).missing == 3);
}

CATCH_TEST_CASE("who logs without end pushes out its own lines alone",
                "[logs]") {
  const auto line_of = [](const std::string& daemon, int number) {
    auto out = numbered(number);
    out.daemon = daemon;
    out.text = fmt::format("{:04}", number); // All lines take the same.
    return out;
  };
  log_ring ring{6 * line_of("a", 0).bytes()};
  ring.add_all({line_of("a", 0), line_of("b", 1), line_of("c", 2)});
  for (int i = 3; i < 1000; ++i)
    ring.add(line_of("b", i));
  CATCH_CHECK(texts(ring.since({})) == "0000 0002 0996 0997 0998 0999 ");
  // What is gone from the midst is missing, too, but for a first question as
  // far as the oldest line.
  CATCH_CHECK(ring.since({}).missing == 994);
  CATCH_CHECK(ring.since({.after = 1}).missing == 994); // 1, and 3 to 995.
  CATCH_CHECK(ring.since({.after = 500}).missing == 496);
  CATCH_CHECK(texts(ring.since({.after = 500})) == "0996 0997 0998 0999 ");
  // The others come to as much as it has.
  ring.add_all({line_of("a", 1000), line_of("c", 1001)});
  CATCH_CHECK(texts(ring.since({})) == "0000 0002 0998 0999 1000 1001 ");
  // All have the same: from now on the oldest line of all goes.
  ring.add(line_of("d", 1002));
  CATCH_CHECK(texts(ring.since({})) == "0002 0998 0999 1000 1001 1002 ");
  ring.add(line_of("d", 1003));
  CATCH_CHECK(texts(ring.since({})) == "0998 0999 1000 1001 1002 1003 ");
}

CATCH_TEST_CASE("what makes room goes by bytes, not by lines", "[logs]") {
  auto large = numbered(0); // Of a.
  large.text = std::string(3 * large.bytes(), 'x');
  const auto each = numbered(1).bytes();
  log_ring ring{large.bytes() + 2 * each};
  ring.add_all({numbered(1), numbered(3), large});
  CATCH_CHECK(ring.since({}).lines.size() == 3);
  ring.add(numbered(5)); // b has three lines, and still less than a.
  CATCH_CHECK(texts(ring.since({})) == "1 3 5 ");
}

CATCH_TEST_CASE("several lines are added as one after the other", "[logs]") {
  log_ring ring{2 * numbered(0).bytes()};
  ring.add_all({numbered(0), numbered(1), numbered(2)});
  ring.add_all({});
  CATCH_CHECK(texts(ring.since({})) == "1 2 ");
  CATCH_CHECK(ring.since({}).next == 3);
}

CATCH_TEST_CASE("lines are asked for by run, daemon and level", "[logs]") {
  log_ring ring{log_ring::of_daemon};
  for (int i = 0; i < 4; ++i)
    ring.add(numbered(i, i < 2 ? "r" : "s",
                      i == 3 ? log_level::error : log_level::debug));
  CATCH_CHECK(texts(ring.since({.run = "s"})) == "2 3 ");
  CATCH_CHECK(texts(ring.since({.daemon = "b"})) == "1 3 ");
  CATCH_CHECK(texts(ring.since({.level = log_level::warn})) == "3 ");
  CATCH_CHECK(texts(ring.since({.run = "r", .daemon = "b"})) == "1 ");
  const auto none = ring.since({.run = "t"});
  CATCH_CHECK(none.lines.empty());
  CATCH_CHECK(none.next == 4); // What was not wanted is not looked at again.
}

CATCH_TEST_CASE("an answer has as many lines as it may", "[logs]") {
  log_ring ring{log_ring::of_cluster};
  const auto count = 2 * log_limits::lines + 1;
  for (std::size_t i = 0; i < count; ++i)
    ring.add(numbered(int(i)));
  std::size_t got = 0;
  log_request asked;
  for (int pages = 1;; ++pages) {
    const auto page = ring.since(asked);
    CATCH_CHECK(page.check());
    CATCH_CHECK(page.lines.front().text == std::to_string(got));
    got += page.lines.size();
    asked.after = page.next;
    if (page.more)
      continue;
    CATCH_CHECK(pages >= 3);
    break;
  }
  CATCH_CHECK(got == count);
}

CATCH_TEST_CASE("who asks for what there is not has few lines looked at",
                "[logs]") {
  log_ring ring{log_ring::of_cluster};
  const auto count = int{log_limits::looked_at} + 2;
  for (int i = 0; i < count; ++i)
    ring.add(numbered(i, i + 1 < count ? "r" : "s"));
  const auto first = ring.since({.run = "s"});
  CATCH_CHECK(first.lines.empty());
  CATCH_CHECK(first.more);
  CATCH_CHECK(first.next == log_limits::looked_at);
  const auto second = ring.since({.after = first.next, .run = "s"});
  CATCH_CHECK(texts(second) == std::to_string(count - 1) + " ");
  CATCH_CHECK_FALSE(second.more);
}

CATCH_TEST_CASE("numbers of one coordinator follow those of the one before",
                "[logs]") {
  log_ring ring{log_ring::of_cluster};
  ring.add(numbered(0));
  ring.begin(100);
  ring.add(numbered(1));
  CATCH_CHECK(ring.since({}).next == 102);
  CATCH_CHECK_FALSE(ring.since({}).anew);
  CATCH_CHECK_FALSE(ring.since({.after = 101}).anew);
  CATCH_CHECK(texts(ring.since({.after = 101})) == "1 ");
  // The one before had given it.
  const auto page = ring.since({.after = 50});
  CATCH_CHECK(texts(page) == "0 1 ");
  CATCH_CHECK(page.missing == 0);
  CATCH_CHECK(page.anew);
}

CATCH_TEST_CASE("a run's own log goes to the ring as lines of the run",
                "[logs]") {
  const auto ring = std::make_shared<log_ring>(log_ring::of_cluster);
  spdlog::logger log{"graphmill", ring_sink(ring, "d0", "r-1")};
  log.warn("the disk is full\n");
  const auto page = ring->since({});
  CATCH_REQUIRE(page.lines.size() == 1);
  auto line = page.lines.front();
  CATCH_CHECK(line.time.count() > 0);
  line.time = unix_time{0};
  CATCH_CHECK(line
              == log_line{unix_time{0}, log_level::warn, "d0", "r-1", "", "run",
                          "the disk is full\\n"});
}

} // namespace graphmill::test
