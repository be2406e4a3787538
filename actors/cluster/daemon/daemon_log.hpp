#pragma once

#include "actors/process/logs/log_levels.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "messages/base/error.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace graphmill {

/// How a daemon writes its log.
struct log_options {
  std::string levels = "info"; ///< As `parse_log_levels` takes them.
  bool json = false;           ///< Lines of JSON.
  /// Gets all lines, beside standard error; empty: nobody does.
  std::filesystem::path file{};
  std::uint64_t file_bytes = std::uint64_t{16} << 20; ///< Then it is put aside.
  unsigned files = 5; ///< In all, with those that were put aside; 2 or more.
};

/// The log of a daemon: its console, its file, and its last lines in memory.
struct daemon_log {
  std::shared_ptr<spdlog::logger> log; ///< Of the module "daemon".
  std::shared_ptr<log_ring> lines;
};

/// @param name Of the daemon. @param leads Whether it keeps the lines of all
/// daemons of its cluster.
result<daemon_log> open_daemon_log(const log_options& options,
                                   const std::string& name, bool leads);

} // namespace graphmill
