#include "actors/process/logs/log_lines.hpp"

#include "partition/files/json_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

namespace graphmill::test {

CATCH_TEST_CASE("a logger's name says what its lines are about", "[logs]") {
  for (const auto& subject :
       {log_subject{"run", {}, {}}, log_subject{"agent", "r-1", {}},
        log_subject{"run", "r-1", "batch of phase train"},
        log_subject{"run", {}, "batch"}})
    CATCH_CHECK(subject_in(logger_name(subject)) == subject);
  CATCH_CHECK(subject_in("graphmill") == log_subject{"graphmill", {}, {}});
  // A name cannot make up a field.
  CATCH_CHECK(subject_in(logger_name({"run",
                                      "r\x1f"
                                      "forged",
                                      {}}))
                .batch
              == "");
}

CATCH_TEST_CASE("lines of JSON have their fields, whatever others say",
                "[logs]") {
  std::ostringstream out;
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
  sink->set_formatter(json_line_formatter("d\x1b[2J"));
  const auto daemon = std::make_shared<spdlog::logger>("daemon", sink);
  daemon->info("serves {}", 2);
  log_about(daemon, {.module = "run", .run = "r-1", .batch = "batch 7"})
    ->warn("{}", "torn \"here\"\n\x1b[31mforged \xff");
  std::istringstream lines{out.str()};
  std::string line;
  CATCH_REQUIRE(std::getline(lines, line));
  auto first = value_of(parse_json(line, "a line"));
  CATCH_CHECK(first["time"].get<double>() > 1.6e9);
  first.erase("time");
  CATCH_CHECK(first
              == nlohmann::json{{"level", "info"},
                                {"daemon", "d\\u001b[2J"},
                                {"run", ""},
                                {"batch", ""},
                                {"module", "daemon"},
                                {"text", "serves 2"}});
  CATCH_REQUIRE(std::getline(lines, line));
  const auto second = value_of(parse_json(line, "a line"));
  CATCH_CHECK(second["level"] == "warn");
  CATCH_CHECK(second["run"] == "r-1");
  CATCH_CHECK(second["batch"] == "batch 7");
  CATCH_CHECK(second["module"] == "run");
  const auto text = second["text"].get<std::string>();
  CATCH_CHECK(text.starts_with("torn \"here\"\\n\\u001b[31mforged "));
  CATCH_CHECK(text.find('\xff') == std::string::npos);
  CATCH_CHECK_FALSE(std::getline(lines, line));
}

CATCH_TEST_CASE("a line that is long is cut, so that it can be sent",
                "[logs]") {
  const auto line =
    printable_line({unix_time{1}, log_level::info, "d", "r",
                    std::string(1000, 'b'), "m", std::string(5000, 't')});
  CATCH_CHECK(line.batch.size() == log_limits::name);
  CATCH_CHECK(line.text.size() == log_limits::text);
  log_reply page;
  page.lines = {line};
  CATCH_CHECK(page.check());
}

} // namespace graphmill::test
