#include "actors/process/logger.hpp"

#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

namespace graphmill::test {

namespace {

namespace fs = std::filesystem;

result<std::shared_ptr<spdlog::logger>> quiet_logger(const fs::path& file) {
  return make_logger(
    file, {.console = std::make_shared<spdlog::sinks::null_sink_mt>()});
}

} // namespace

CATCH_TEST_CASE("a log goes on where the last one ended", "[logger]") {
  const temp_folder folder;
  const auto file = folder / "log.txt";
  for (const auto* line : {"one", "two\nforged"})
    value_of(quiet_logger(file))->info("{}", line);
  const auto text = value_of(read_text(file, 1000));
  const auto end_of_first = text.find('\n');
  CATCH_REQUIRE(end_of_first != std::string::npos);
  const auto first = text.substr(0, end_of_first);
  CATCH_CHECK(first.ends_with("] [info] one"));
  CATCH_CHECK(text.ends_with("] [info] two\\nforged\n"));
  struct stat about {};
  CATCH_REQUIRE(::stat(file.c_str(), &about) == 0);
  CATCH_CHECK((about.st_mode & 077) == 0);
}

CATCH_TEST_CASE("lines of a log are read back", "[logger]") {
  const temp_folder folder;
  const auto file = folder / "log.txt";
  const auto now = [] {
    return std::chrono::duration_cast<unix_time>(
      std::chrono::system_clock::now().time_since_epoch());
  };
  const auto before = now();
  const auto log = value_of(quiet_logger(file));
  log->set_level(spdlog::level::trace);
  log->debug("[a] b");
  log->info("");
  log->warn("w");
  log->error("e");
  log->critical("c");
  auto text = value_of(read_text(file, 1000));
  std::string got;
  while (!text.empty()) {
    const auto line =
      run_log_line(text.substr(0, text.find('\n'))).value_or(log_line{});
    CATCH_CHECK(line.time >= before);
    CATCH_CHECK(line.time <= now());
    got += fmt::format("{}:{} ", to_string(line.level), line.text);
    text.erase(0, text.find('\n') + 1);
  }
  CATCH_CHECK(got == "debug:[a] b info: warn:w error:e critical:c ");
}

CATCH_TEST_CASE("a line of a log is one only if it has time and level",
                "[logger]") {
  const auto line = run_log_line("[2026-11-28T03:30:00.007Z] [warning] [a] b");
  CATCH_REQUIRE(line.has_value());
  CATCH_CHECK(line->time == unix_time{1795836600007});
  CATCH_CHECK(line->level == log_level::warn);
  CATCH_CHECK(line->text == "[a] b");
  for (const auto* wrong :
       {"2026-11-28T03:30:00.007", "2026-11-28T03:30:00Z",
        "2026-11-28T03:30:00.07Z", "2026-11-28T03:30:00.007Zx",
        "2026-13-28T03:30:00.007Z", "2026-11-28 03:30:00.007", "2026-11-28",
        "2026-11-28T03:30:00.-07Z", "", "x"})
    CATCH_CHECK_FALSE(run_log_line(fmt::format("[{}] [info] text", wrong)));
  for (const auto* wrong :
       {"", "[", "[]", "[] []", "[2026-11-28T03:30:00.007Z]",
        "[2026-11-28T03:30:00.007Z] [loud] text"})
    CATCH_CHECK_FALSE(run_log_line(wrong));
}

CATCH_TEST_CASE("a log does not grow for ever", "[logger]") {
  const temp_folder folder;
  const auto file = folder / "log.txt";
  const auto old = folder / "log.txt.old";
  const auto log = value_of(quiet_logger(file));
  const std::string text(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 15; ++i)
    log->info("{}", text);
  CATCH_CHECK_FALSE(fs::exists(old));
  for (int i = 0; i < 20; ++i)
    log->info("{}", text);
  log->info("the last line");
  CATCH_CHECK(fs::file_size(file) <= longest_run_log);
  CATCH_CHECK(fs::file_size(old) <= longest_run_log);
  CATCH_CHECK(fs::file_size(old) > longest_run_log - (std::size_t{2} << 20));
  CATCH_CHECK(std::distance(fs::directory_iterator{folder.path()}, {}) == 2);
  CATCH_CHECK(value_of(read_text(file, longest_run_log))
                .ends_with("[info] the last line\n"));
}

CATCH_TEST_CASE(
  "a log that somebody has taken away is begun anew when it is long",
  "[logger]") {
  const temp_folder folder;
  const auto file = folder / "log.txt";
  const auto taken = folder / "taken";
  const auto log = value_of(quiet_logger(file));
  const std::string text(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 10; ++i)
    log->info("{}", text);
  fs::rename(file, taken);
  for (int i = 0; i < 20; ++i)
    log->info("{}", text);
  log->info("the last line");
  CATCH_CHECK(fs::file_size(taken) <= longest_run_log);
  CATCH_CHECK(value_of(read_text(file, longest_run_log))
                .ends_with("[info] the last line\n"));
  struct stat about {};
  CATCH_REQUIRE(::stat(file.c_str(), &about) == 0);
  CATCH_CHECK((about.st_mode & 0777) == 0600);
}

CATCH_TEST_CASE("a long log takes the place of a link", "[logger]") {
  const temp_folder folder;
  const auto victim = folder / "victim";
  const auto old = folder / "log.txt.old";
  value_of(write_text(victim, "precious"));
  fs::create_symlink(victim, old);
  const auto log = value_of(quiet_logger(folder / "log.txt"));
  const std::string text(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 16; ++i)
    log->info("{}", text);
  CATCH_CHECK(value_of(read_text(victim, 100)) == "precious");
  CATCH_CHECK(fs::is_regular_file(fs::symlink_status(old)));
  CATCH_CHECK(fs::file_size(old) > text.size());
}

CATCH_TEST_CASE("a log does not go where a link leads", "[logger]") {
  const temp_folder folder;
  const auto victim = folder / "victim";
  const auto file = folder / "log.txt";
  value_of(write_text(victim, "precious"));
  CATCH_SECTION("to a file") {
    fs::create_symlink(victim, file);
  }
  CATCH_SECTION("to nothing") {
    fs::create_symlink(folder / "made", file);
  }
  CATCH_SECTION("as a second name") {
    fs::create_hard_link(victim, file);
  }
  const auto refused = error_of(quiet_logger(file));
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(refused.message.starts_with(file.string() + " is a "));
  CATCH_CHECK(value_of(read_text(victim, 100)) == "precious");
  CATCH_CHECK_FALSE(fs::exists(folder / "made"));
}

} // namespace graphmill::test
