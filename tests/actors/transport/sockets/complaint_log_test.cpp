#include "actors/transport/sockets/complaint_log.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

using said_lines = std::vector<std::string>;

CATCH_TEST_CASE("complaints that are alike are summed up", "[transport]") {
  said_lines said;
  complaint_log log{[&said](const auto& line) { said.push_back(line); }};
  auto now = complaint_log::time_point{} + complaint_log::period;
  for (int i = 0; i < 500; ++i) {
    log.add("refused 127.0.0.1:" + std::to_string(40000 + i), now);
    log.add("run c0ffee" + std::to_string(i) + "aa is no run", now);
  }
  log.add("something else", now);
  CATCH_CHECK(
    said
    == said_lines{"refused 127.0.0.1:40000", "run c0ffee0aa is no run",
                  "refused 127.0.0.1:40001", "run c0ffee1aa is no run",
                  "refused 127.0.0.1:40002", "run c0ffee2aa is no run",
                  "something else"});
  said.clear();
  log.look(now + complaint_log::period / 2);
  CATCH_CHECK(said.empty());
  now += complaint_log::period;
  log.look(now);
  CATCH_CHECK(
    said
    == said_lines{"497 more within 10 s like: refused 127.0.0.1:40002",
                  "497 more within 10 s like: run c0ffee2aa is no run"});
  said.clear();
  // What goes on is not told line by line again, until it was over for once.
  const auto look_later = [&] {
    now += complaint_log::period;
    log.look(now);
  };
  log.add("refused 127.0.0.1:7", now);
  log.add("something else", now);
  look_later();
  CATCH_CHECK(
    said
    == said_lines{"something else",
                  "1 more within 10 s like: refused 127.0.0.1:40002"});
  said.clear();
  look_later();
  CATCH_CHECK(said.empty());
  log.add("refused 127.0.0.1:8", now);
  look_later();
  CATCH_CHECK(said == said_lines{"refused 127.0.0.1:8"});
}

CATCH_TEST_CASE("what comes and goes in a loop is summed up by its name",
                "[transport]") {
  said_lines said;
  complaint_log log{[&said](const auto& line) { said.push_back(line); }, 3};
  auto now = complaint_log::time_point{} + complaint_log::period;
  for (int i = 0; i < 249; ++i)
    log.add("joined d1", "d1 is there, at port " + std::to_string(i), now);
  // Not alike, for all that: names may differ in numbers alone.
  for (const auto* name : {"d2", "d3", "d4"})
    log.add(std::string{"joined "} + name, std::string{name} + " is there",
            now);
  CATCH_CHECK(said
              == said_lines{"d1 is there, at port 0", "d1 is there, at port 1",
                            "d1 is there, at port 2", "d2 is there",
                            "d3 is there"});
  said.clear();
  log.look(now + complaint_log::period);
  CATCH_CHECK(said
              == said_lines{"246 more within 10 s like: d1 is there, at port 2",
                            "left out 1 more complaints of other kinds"});
}

CATCH_TEST_CASE("others cannot fill the log", "[transport]") {
  said_lines said;
  complaint_log log{[&said](const auto& line) { said.push_back(line); }};
  auto now = complaint_log::time_point{} + complaint_log::period;
  // Many kinds, for which letters do.
  for (std::size_t i = 0; i < 5 * complaint_log::most_kinds; ++i)
    log.add(std::string(i + 1, 'x'), now);
  CATCH_CHECK(said.size() == complaint_log::most_kinds);
  now += complaint_log::period;
  said.clear();
  log.add(std::string(1'000'000, 'x'), now);
  CATCH_CHECK(
    said
    == said_lines{"left out 400 more complaints of other kinds",
                  std::string(complaint_log::most_bytes, 'x') + "..."});
}

} // namespace graphmill::test
