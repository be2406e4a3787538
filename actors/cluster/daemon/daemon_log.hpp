#pragma once

#include "actors/process/logs/log_levels.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "actors/process/logs/rotated_file.hpp"
#include "messages/base/error.hpp"

#include <spdlog/logger.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

/// Writes lines to a file with old ones beside it: "log", "log.1" and so on.
/// While the disk does not take them it tells so once, and nobody is stopped;
/// how many lines are missing is in the file as soon as there is room. Used by
/// one thread.
class log_file {
public:
  struct setting {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    unsigned files = 2;
    /// A line that says how many lines are missing.
    std::function<std::string(std::size_t)> notice;
    /// Is told when lines cannot be written, and when they can again.
    std::function<void(const std::string&)> complain;
  };
  /// Fails if the file cannot be opened: a path that was mistyped is no disk
  /// that is full. One that another daemon writes to is refused, too.
  static result<log_file> open(setting with);

  /// Appends whole lines.
  void write(std::string_view lines);

private:
  explicit log_file(setting with);

  setting with_;
  rotated_file file_;
  std::size_t missing_ = 0; ///< Lines since the first that was not written.
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
