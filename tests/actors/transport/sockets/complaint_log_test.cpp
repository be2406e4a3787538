#include "actors/transport/sockets/complaint_log.hpp"

#include "tests/support/catch.hpp"

#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("others cannot fill the log", "[transport]") {
  std::vector<std::string> lines;
  complaint_log log{[&lines](const auto& line) { lines.push_back(line); }};
  auto now = complaint_log::time_point{} + complaint_log::period;
  for (std::size_t i = 0; i < 5 * complaint_log::most_complaints; ++i)
    log.add("refused", now);
  CATCH_CHECK(lines.size() == complaint_log::most_complaints);
  now += complaint_log::period;
  lines.clear();
  log.add(std::string(1'000'000, 'x'), now);
  CATCH_REQUIRE(lines.size() == 2);
  CATCH_CHECK(lines[0] == "left out 400 complaints like the last one");
  CATCH_CHECK(lines[1] == std::string(complaint_log::most_bytes, 'x') + "...");
  now += complaint_log::period;
  lines.clear();
  log.add("refused", now);
  CATCH_CHECK(lines == std::vector<std::string>{"refused"});
}

} // namespace graphmill::test
