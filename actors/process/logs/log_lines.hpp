#pragma once

#include "messages/wire/log.hpp"

#include <nlohmann/json_fwd.hpp>
#include <spdlog/fwd.h>

#include <memory>
#include <string>
#include <string_view>

namespace spdlog::details {
struct log_msg;
}

namespace graphmill {

/// The subject of a logger's lines besides their text.
struct log_subject {
  std::string module{};
  std::string run{};   ///< Empty: none.
  std::string batch{}; ///< Empty: none.

  friend bool operator==(const log_subject&, const log_subject&) = default;
};

/// A subject as the name of a logger, and back, because spdlog passes no other
/// fields to sinks. A name without a subject is that of a module.
std::string logger_name(const log_subject& of);
log_subject subject_in(std::string_view logger_name);

/// A logger to the same sinks whose lines have a subject. Empty fields stay as
/// they are. It costs an allocation or two: for rare lines, or to be kept.
/// @param log Null: null.
std::shared_ptr<spdlog::logger>
log_about(const std::shared_ptr<spdlog::logger>& log, log_subject what);

/// A message as a line of a daemon's log. Its texts are printable and have
/// permitted lengths.
log_line line_of(const spdlog::details::log_msg& message,
                 const std::string& daemon);

/// The same for a foreign line.
log_line printable_line(log_line line);

/// As in /api/logs: time in seconds since 1970, level, daemon, run, batch,
/// module, text.
nlohmann::json log_line_json(const log_line& line);

/// A line of JSON, with its end, of each message.
std::unique_ptr<spdlog::formatter> json_line_formatter(std::string daemon);

} // namespace graphmill
