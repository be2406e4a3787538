#include "actors/process/logs/log_levels.hpp"

#include "actors/process/logs/log_lines.hpp"

#include <fmt/ranges.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <array>
#include <utility>

namespace graphmill {

namespace {

constexpr std::array log_level_words{log_level::debug, log_level::info,
                                     log_level::warn, log_level::error,
                                     log_level::critical};

result<void> add_level(log_levels& to, std::string_view item) {
  const auto middle = item.find('=');
  if (middle == std::string_view::npos) {
    GRAPHMILL_TRY(to.others, parse_log_level(item));
    return ok();
  }
  const std::string module{item.substr(0, middle)};
  if (std::ranges::find(log_modules(), module) == log_modules().end())
    return fail(ec::invalid_argument, "\"{}\" is no module; the modules are {}",
                module, fmt::join(log_modules(), ", "));
  GRAPHMILL_TRY(to.modules[module], parse_log_level(item.substr(middle + 1)));
  return ok();
}

} // namespace

result<log_level> parse_log_level(std::string_view word) {
  const auto known =
    std::ranges::find_if(log_level_words, [word](log_level level) {
      return to_string(level) == word;
    });
  if (known == log_level_words.end())
    return fail(ec::invalid_argument,
                "\"{}\" is no log level; the levels are debug, info, warn, "
                "error and critical",
                word);
  return *known;
}

spdlog::level::level_enum to_spdlog(log_level level) {
  switch (level) {
  case log_level::debug:
    return spdlog::level::debug;
  case log_level::info:
    return spdlog::level::info;
  case log_level::warn:
    return spdlog::level::warn;
  case log_level::error:
    return spdlog::level::err;
  case log_level::critical:
    break;
  }
  return spdlog::level::critical;
}

log_level log_levels::of(std::string_view module) const {
  const auto own = modules.find(module);
  return own == modules.end() ? others : own->second;
}

const std::vector<std::string>& log_modules() {
  static const std::vector<std::string> all{
    "daemon", "coordinator", "agent", "data", "transport", "http", "run"};
  return all;
}

result<log_levels> parse_log_levels(std::string_view text) {
  log_levels out;
  for (;;) {
    const auto end = text.find(',');
    GRAPHMILL_TRYV(add_level(out, text.substr(0, end)));
    if (end == std::string_view::npos)
      return out;
    text.remove_prefix(end + 1);
  }
}

leveled_logger::leveled_logger(std::string name,
                               const std::vector<spdlog::sink_ptr>& sinks,
                               std::shared_ptr<const log_levels> levels)
  : logger(std::move(name), sinks.begin(), sinks.end()),
    levels_(std::move(levels)) {
  take_level();
}

std::shared_ptr<spdlog::logger> leveled_logger::clone(std::string name) {
  auto out = std::make_shared<leveled_logger>(std::move(name), sinks_, levels_);
  out->flush_on(flush_level());
  return out;
}

void leveled_logger::take_level() {
  set_level(to_spdlog(levels_->of(subject_in(name()).module)));
}

} // namespace graphmill
