#include "actors/cluster/daemon/daemon_log.hpp"

#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <string>
#include <thread>

namespace graphmill::test {

CATCH_TEST_CASE(
  "a log of a daemon that cannot be opened is a mistake of its user",
  "[daemon][logs]") {
  const temp_folder folder;
  log_options options;
  options.file = folder / "no" / "log";
  CATCH_CHECK(
    error_of(open_daemon_log(options, "d0", false)).message.find("no/log")
    != std::string::npos);
  options = {};
  options.levels = "loud";
  CATCH_CHECK(error_of(open_daemon_log(options, "d0", false)).code
              == ec::invalid_argument);
}

CATCH_TEST_CASE("a daemon's lines are in its memory and in its file",
                "[daemon][logs]") {
  const temp_folder folder;
  log_options options;
  options.json = true;
  options.levels = "error";
  options.file = folder / "log";
  {
    const auto logs = value_of(open_daemon_log(options, "d0", false));
    logs.log->info("not wanted");
    logs.log->error("wanted");
    const auto page = logs.lines->since({});
    CATCH_REQUIRE(page.lines.size() == 1);
    CATCH_CHECK(page.lines[0].daemon == "d0");
    CATCH_CHECK(page.lines[0].module == "daemon");
    CATCH_CHECK(page.lines[0].text == "wanted");
  } // It gives its thread some time to write; a busy disk may take more.
  std::string text;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (text.empty() && std::chrono::steady_clock::now() < end) {
    text = value_of(read_text(folder / "log", 1000));
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  CATCH_CHECK(text.find("\"text\":\"wanted\"") != std::string::npos);
  CATCH_CHECK(text.find("not wanted") == std::string::npos);
}

} // namespace graphmill::test
