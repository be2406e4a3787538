#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/log.hpp"

#include <spdlog/logger.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The level of a word, as in "warn".
result<log_level> parse_log_level(std::string_view word);
spdlog::level::level_enum to_spdlog(log_level level);

/// From which level on lines are written, by module.
struct log_levels {
  log_level others = log_level::info; ///< Of modules that are not named.
  std::map<std::string, log_level, std::less<>> modules{};

  log_level of(std::string_view module) const;
};

/// The modules of a daemon that have levels of their own.
const std::vector<std::string>& log_modules();

/// As in "info,transport=debug,http=error"; the level without a module may be
/// left out. Fails on words that are no levels, and on unknown modules.
result<log_levels> parse_log_levels(std::string_view text);

/// A logger that knows the levels of all modules, so that each that is made of
/// it by `log_about` has its own.
class leveled_logger final : public spdlog::logger {
public:
  leveled_logger(std::string name, const std::vector<spdlog::sink_ptr>& sinks,
                 std::shared_ptr<const log_levels> levels);

  /// @param name As `logger_name` makes it.
  std::shared_ptr<spdlog::logger> clone(std::string name) override;

private:
  void take_level();

  std::shared_ptr<const log_levels> levels_;
};

} // namespace graphmill
