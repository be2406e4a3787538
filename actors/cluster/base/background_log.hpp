#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/process/logs/log_file.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace graphmill {

/// A log file with a thread of its own that waits for the disk. From any
/// thread. A disk that is full or stuck stops nobody: that is told once, and
/// how many lines are missing is written when there is room.
class background_log {
public:
  /// @param most Pieces that may wait; what comes beyond is counted and left
  /// out.
  background_log(log_file::setting file, std::size_t most);
  /// Gives what waits a moment to be written.
  ~background_log();
  background_log(const background_log&) = delete;
  background_log& operator=(const background_log&) = delete;

  /// @param text Lines, each with its end. @param lines How many.
  void write(std::string text, std::size_t lines = 1);

private:
  std::function<void(const std::string&)> complain_;
  std::size_t most_;
  std::mutex mutex_; ///< Keeps pieces in order, and what is left out counted.
  std::size_t dropped_ = 0; ///< Lines for which the thread had no room.
  log_file file_;           ///< The thread's.
  compute_thread thread_;   ///< Last: ends before what its jobs use.
};

} // namespace graphmill
