#include "actors/cluster/daemon/daemon_log.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace graphmill::test {

namespace {

log_file::setting small_log(const std::filesystem::path& path,
                            std::vector<std::string>& told) {
  return {path, 100, 2,
          [](std::size_t lost) { return fmt::format("{} lost\n", lost); },
          [&told](const std::string& text) { told.push_back(text); }};
}

} // namespace

CATCH_TEST_CASE("a log that cannot be written is told once, and goes on later",
                "[daemon][logs]") {
  const temp_folder folder;
  const auto place = folder / "there";
  std::filesystem::create_directory(place);
  std::vector<std::string> told;
  auto file = value_of(log_file::open(small_log(place / "log", told)));
  const auto line = std::string(59, 'x') + "\n";
  file.write(line);
  CATCH_CHECK(told.empty());
  // It is full, and cannot be put aside.
  std::filesystem::remove_all(place);
  file.write(line);
  file.write(line + line);
  CATCH_REQUIRE(told.size() == 1);
  CATCH_CHECK(told[0].find("all else goes on") != std::string::npos);
  std::filesystem::create_directory(place);
  file.write("back\n");
  CATCH_REQUIRE(told.size() == 2);
  CATCH_CHECK(told[1].ends_with(" again"));
  CATCH_CHECK(value_of(read_text(place / "log", 1000)) == "3 lost\nback\n");
}

CATCH_TEST_CASE(
  "a file of a log that cannot be opened is a mistake of its user",
  "[daemon][logs]") {
  const temp_folder folder;
  std::vector<std::string> told;
  CATCH_CHECK(error_of(log_file::open(small_log(folder / "no" / "log", told)))
                .message.find("no/log")
              != std::string::npos);
  log_options options;
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
