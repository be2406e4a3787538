#pragma once

#include "messages/base/error.hpp"

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>

namespace graphmill {

/// A logger that writes warnings to standard error and everything to `file`
/// (nowhere when that is empty).
/// @param console Gets the warnings in place of standard error.
result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file,
            const spdlog::sink_ptr& console = nullptr);

} // namespace graphmill
