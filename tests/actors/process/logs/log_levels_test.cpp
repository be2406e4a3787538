#include "actors/process/logs/log_levels.hpp"

#include "actors/process/logs/log_lines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <memory>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("levels are for all modules, and for some", "[logs]") {
  const auto levels =
    value_of(parse_log_levels("warn,transport=debug,http=critical"));
  CATCH_CHECK(levels.of("agent") == log_level::warn);
  CATCH_CHECK(levels.of("transport") == log_level::debug);
  CATCH_CHECK(levels.of("http") == log_level::critical);
  CATCH_CHECK(value_of(parse_log_levels("run=error")).of("data")
              == log_level::info);
  for (const auto* text : {"", "loud", "info,", "transport=", "nobody=info",
                           "transport=debug=info", "info transport=debug"}) {
    CATCH_INFO(text);
    CATCH_CHECK(error_of(parse_log_levels(text)).code == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("each module writes what its level lets through", "[logs]") {
  auto levels = std::make_shared<log_levels>();
  levels->others = log_level::warn;
  levels->modules["transport"] = log_level::debug;
  const std::shared_ptr<spdlog::logger> daemon =
    std::make_shared<leveled_logger>(
      "daemon",
      std::vector<spdlog::sink_ptr>{
        std::make_shared<spdlog::sinks::null_sink_mt>()},
      levels);
  CATCH_CHECK_FALSE(daemon->should_log(spdlog::level::info));
  CATCH_CHECK(daemon->should_log(spdlog::level::warn));
  const auto transport = log_about(daemon, {.module = "transport"});
  CATCH_CHECK(transport->should_log(spdlog::level::debug));
  CATCH_CHECK_FALSE(transport->should_log(spdlog::level::trace));
  // What a line is about does not change the level of its module.
  CATCH_CHECK(
    log_about(transport, {.run = "r"})->should_log(spdlog::level::debug));
  CATCH_CHECK_FALSE(
    log_about(daemon, {.run = "r"})->should_log(spdlog::level::info));
}

} // namespace graphmill::test
