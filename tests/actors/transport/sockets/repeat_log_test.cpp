#include "actors/transport/sockets/repeat_log.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

using namespace std::chrono_literals;

CATCH_TEST_CASE("what happens again is summed up", "[transport]") {
  std::vector<std::string> lines;
  repeat_log log{[&lines](const auto& line) { lines.push_back(line); }};
  const repeat_log::time_point start{1h};
  CATCH_CHECK((log.next_tick() == repeat_log::time_point::max()));
  for (int i = 0; i < 1000; ++i)
    log.add("refused a", start);
  log.add("refused b", start + 1s);
  CATCH_CHECK(lines == std::vector<std::string>{"refused a", "refused b"});
  CATCH_CHECK((log.next_tick() == start + repeat_log::period));
  lines.clear();
  log.tick(start + repeat_log::period - 1s);
  CATCH_CHECK(lines.empty());
  log.tick(start + repeat_log::period);
  CATCH_CHECK(
    lines
    == std::vector<std::string>{"refused a (999 times more within 60 s)"});
  // What has not come again is forgotten, and told at once the next time.
  lines.clear();
  log.tick(start + 3 * repeat_log::period);
  CATCH_CHECK(lines.empty());
  CATCH_CHECK((log.next_tick() == repeat_log::time_point::max()));
  log.add("refused a", start + 3 * repeat_log::period);
  CATCH_CHECK(lines == std::vector<std::string>{"refused a"});
}

CATCH_TEST_CASE("many sentences do not fill the log", "[transport]") {
  std::vector<std::string> lines;
  repeat_log log{[&lines](const auto& line) { lines.push_back(line); }};
  const repeat_log::time_point start{1h};
  for (std::size_t i = 0; i < 3 * repeat_log::most_sentences; ++i)
    log.add("refused " + std::to_string(i), start);
  CATCH_CHECK(lines.size() == repeat_log::most_sentences);
  lines.clear();
  log.tick(start + repeat_log::period);
  CATCH_CHECK(
    lines == std::vector<std::string>{"left out 128 lines like the last one"});
  log.add("refused once more", start + repeat_log::period);
  CATCH_CHECK(lines.back() == "refused once more");
}

} // namespace graphmill::test
