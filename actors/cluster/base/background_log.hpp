#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/process/logs/log_file.hpp"

#include <cstddef>
#include <functional>
#include <memory>
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
  /// Gives what waits a moment to be written. A thread that the disk still
  /// holds then is left behind, as the process is about to end.
  ~background_log();
  background_log(const background_log&) = delete;
  background_log& operator=(const background_log&) = delete;

  /// @param text Lines, each with its end. @param lines How many.
  void write(std::string text, std::size_t lines = 1);

  /// Lines were left out before the next that is written.
  void miss(std::size_t lines = 1);

private:
  /// What the thread needs.
  struct writer {
    explicit writer(log_file::setting of)
      : complain(of.complain), file(std::move(of)) {}

    std::function<void(const std::string&)> complain;
    log_file file;                   ///< The thread's.
    bool is_short_of_memory = false; ///< The same.
    compute_thread thread;           ///< Last: ends before what its jobs use.
  };

  std::size_t most_;
  std::mutex mutex_; ///< Keeps pieces in order, and what is left out counted.
  std::size_t missed_ = 0; ///< Lines that the file has yet to be told of.
  std::unique_ptr<writer> writer_;
};

} // namespace graphmill
