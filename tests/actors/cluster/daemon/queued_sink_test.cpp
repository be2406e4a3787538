#include "actors/cluster/daemon/queued_sink.hpp"
#include "tests/support/catch.hpp"

#include <spdlog/logger.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

using namespace graphmill;

namespace {

/// A console that is read only when the test does. It outlives its sinks'
/// threads, as that of a process does.
struct pipe_console {
  int read_end = -1;
  int write_end = -1;

  pipe_console() {
    std::array<int, 2> ends{};
    CATCH_REQUIRE(pipe(ends.data()) == 0);
    read_end = ends[0];
    write_end = ends[1];
    fcntl(write_end, F_SETPIPE_SZ, 4096);
  }

  /// What is there until `last`.
  std::string read_until(const std::string& last) const {
    std::string out;
    while (out.find(last) == std::string::npos) {
      std::array<char, 4096> piece{};
      const auto size = read(read_end, piece.data(), piece.size());
      CATCH_REQUIRE(size > 0);
      out.append(piece.data(), static_cast<std::size_t>(size));
    }
    return out;
  }
};

std::shared_ptr<spdlog::logger>
logger_to(std::function<void(std::string_view)> write) {
  auto sink = std::make_shared<queued_sink>(
    queued_sink::outlet{std::move(write), [](std::size_t lost) {
                          return std::to_string(lost) + " lines dropped\n";
                        }});
  sink->set_pattern("%n: %v");
  return std::make_shared<spdlog::logger>("d0", std::move(sink));
}

std::shared_ptr<spdlog::logger> logger_on(const pipe_console& console) {
  return logger_to(queued_sink::to_console(console.write_end));
}

} // namespace

CATCH_TEST_CASE("a console gets every line, and the last ones",
                "[queued_sink]") {
  const pipe_console console;
  std::string expected;
  auto log = logger_on(console);
  for (int i = 0; i < 100; ++i) {
    log->info("line {}", i);
    expected += "d0: line " + std::to_string(i) + "\n";
  }
  log.reset();
  CATCH_CHECK(console.read_until("line 99\n") == expected);
}

CATCH_TEST_CASE("what others say moves no cursor and makes no lines",
                "[queued_sink]") {
  const pipe_console console;
  auto log = logger_on(console);
  log->warn("refused: {}", "\x1b[2J\n12:00:00 d0: all is well");
  log->warn("end");
  CATCH_CHECK(console.read_until("end\n")
              == "d0: refused: \\u001b[2J\\n12:00:00 d0: all is well\n"
                 "d0: end\n");
}

CATCH_TEST_CASE("a console that nobody reads holds nobody up",
                "[queued_sink]") {
  const pipe_console console;
  auto log = logger_on(console);
  const std::string filling(1000, '.');
  for (int i = 0; i < 3000; ++i) {
    log->info("{} {}", i, filling);
    if (i == 0)
      log->flush(); // So that it is there before lines are dropped.
  }
  log.reset(); // Gives up waiting; what is left is written all the same.
  const auto text = console.read_until("2999 " + filling + "\n");
  CATCH_CHECK(text.starts_with("d0: 0 "));
  CATCH_CHECK(text.find("d0: 1000 ") == std::string::npos);
  auto accounted = 0;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    accounted += line.ends_with(" lines dropped") ? std::stoi(line) : 1;
  CATCH_CHECK(accounted == 3000);
}

CATCH_TEST_CASE("a line for which there is no memory counts as dropped",
                "[queued_sink]") {
  const pipe_console console;
  const auto fails = std::make_shared<int>(2); // Of the thread.
  auto log = logger_to([fails, write = queued_sink::to_console(
                                 console.write_end)](std::string_view text) {
    if ((*fails)-- > 0)
      throw std::bad_alloc{};
    write(text);
  });
  for (int i = 0; i < 4; ++i)
    log->info("line {}", i);
  CATCH_CHECK(console.read_until("line 3\n")
              == "2 lines dropped\nd0: line 2\nd0: line 3\n");
}
