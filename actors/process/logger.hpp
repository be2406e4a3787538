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

/// Makes one line of each message, whatever it contains: control characters and
/// line breaks are escaped.
/// @param pattern As for spdlog; "%+" is its own.
std::unique_ptr<spdlog::formatter>
line_formatter(const std::string& pattern = "%+");

/// Destinations of a run's log besides its file.
struct log_outlets {
  /// Gets warnings; null: standard error.
  std::shared_ptr<spdlog::sinks::sink> console;
  /// Gets everything; null: no destination.
  std::shared_ptr<spdlog::sinks::sink> memory;
  /// The name of the logger for the console; empty: its own.
  std::string name{};
};

/// The size of a run's log, in bytes, at which it becomes FILE.old, which
/// replaces the one before.
inline constexpr std::size_t longest_run_log = std::size_t{16} << 20;

/// A logger that writes warnings to standard error and everything to `file`,
/// which only its owner can read. An empty name: no file.
result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file, const log_outlets& to = {});

/// A line of such a file: time, level and text. Nothing if it has another form,
/// as when the process was killed while writing it.
/// @param text Without the line's end.
std::optional<log_line> run_log_line(std::string_view text);

} // namespace graphmill
