#pragma once

#include "messages/base/error.hpp"

#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <string>

namespace graphmill {

/// Makes a line of each message, whatever others have put into it: control
/// characters are escaped, line breaks with them.
/// @param pattern As spdlog has it; "%+" is its own.
std::unique_ptr<spdlog::formatter>
line_formatter(const std::string& pattern = "%+");

/// A logger that writes warnings to standard error and everything to `file`
/// (nowhere when that is empty), which its owner alone can read.
/// @param console Gets the warnings in place of standard error.
result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file,
            const spdlog::sink_ptr& console = nullptr);

} // namespace graphmill
