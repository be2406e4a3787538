#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/log.hpp"

#include <spdlog/fwd.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// Makes a line of each message, whatever others have put into it: control
/// characters are escaped, line breaks with them.
/// @param pattern As spdlog has it; "%+" is its own.
std::unique_ptr<spdlog::formatter>
line_formatter(const std::string& pattern = "%+");

/// Where the log of a run goes beside its file.
struct log_outlets {
  std::shared_ptr<spdlog::sinks::sink> console; ///< Gets warnings; null: standard error.
  std::shared_ptr<spdlog::sinks::sink> memory;  ///< Gets everything; null: nobody does.
  /// Of the logger, as the console is told it; empty: its own.
  std::string name{};
};

/// How long the file of a run's log gets, in bytes, before it becomes FILE.old,
/// in place of the one before.
inline constexpr std::size_t longest_run_log = std::size_t{16} << 20;

/// A logger that writes warnings to standard error and everything to `file`
/// (nowhere when that is empty), which its owner alone can read.
result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file, const log_outlets& to = {});

/// A line of such a file: time, level and text; nothing if it has not been
/// written so, as when the process was killed within it.
/// @param text Without the line's end.
std::optional<log_line> run_log_line(std::string_view text);

} // namespace graphmill
