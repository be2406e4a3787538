#include "actors/cluster/health/event_journal.hpp"
#include "actors/process/logger.hpp"
#include "tests/fuzz/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// What a coordinator has kept in lines for those after it: events, and the log
// of a run.

namespace graphmill::fuzz {

namespace {

constexpr std::uint64_t below = 1000;

void read_kept_lines(std::string_view input) {
  const auto folder = scratch() / "kept";
  std::error_code ignored;
  std::filesystem::create_directory(folder, ignored);
  put_file(folder / "events.jsonl", input);
  const event_journal journal{folder, "c", [](const std::string&) {}};
  const auto events = journal.former(below).events;
  require(events.size() <= event_ring::most, "more events than are remembered");
  require(std::ranges::adjacent_find(events, std::greater_equal{},
                                     &cluster_event::seq)
            == events.end(),
          "events out of order");
  require(events.empty() || events.back().seq < below, "an event of later");
  for (const auto& event : events)
    require(event.time.count() >= 0, "an event before there were any");
  for (const auto text : {input, input.substr(0, input.find('\n'))})
    if (const auto line = run_log_line(text))
      require(text.ends_with(line->text) && !to_string(line->level).empty(),
              "a line of a log that does not stand there");
}

std::vector<std::string> kept_lines() {
  const std::string event =
    R"({"cluster":"c","kind":"lost","run":"r","seq":7,"text":"d1 is lost",)"
    R"("time":1795841615.13,"who":"d1"})"
    "\n";
  return {event, event + "{\"missing\":3}\n" + event,
          "[2026-11-28T03:30:00.007Z] [warning] [a] b\n", event.substr(0, 40),
          "[]\n{}\n7\n"};
}

} // namespace

const harness kept_lines_harness{"kept_lines",
                                 "events and lines of logs that were kept",
                                 read_kept_lines, kept_lines, 2000};

} // namespace graphmill::fuzz
