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

/// What lines of a logger are about beside their text.
struct log_subject {
  std::string module{};
  std::string run{};   ///< Empty: none.
  std::string batch{}; ///< Empty: none.

  friend bool operator==(const log_subject&, const log_subject&) = default;
};

/// A subject as the name of a logger, and back: spdlog hands no other fields to
/// sinks. A name that was not made of one is that of a module.
std::string logger_name(const log_subject& of);
log_subject subject_in(std::string_view logger_name);

/// A logger to the same sinks whose lines are about something. What is empty
/// stays as it is. Costs an allocation or two: for lines that are rare, or to
/// be kept.
/// @param log Null: null.
std::shared_ptr<spdlog::logger>
log_about(const std::shared_ptr<spdlog::logger>& log, log_subject what);

/// A message as a line of a daemon's log. Its texts are printable and have
/// lengths that may be sent.
log_line line_of(const spdlog::details::log_msg& message,
                 const std::string& daemon);

/// The same for a line of somebody else.
log_line printable_line(log_line line);

/// As /api/logs has it: time in seconds since 1970, level, daemon, run, batch,
/// module, text.
nlohmann::json log_line_json(const log_line& line);

/// A line of JSON, with its end, of each message.
std::unique_ptr<spdlog::formatter> json_line_formatter(std::string daemon);

} // namespace graphmill
