#pragma once

#include <spdlog/sinks/sink.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace graphmill {

/// Writes the log of a daemon to its console, or to a file, by a thread of its
/// own, so that nobody waits for a terminal that is stopped, a pipe that nobody
/// reads, or a disk. Lines wait in a queue of 1 MiB; when it is full, the
/// oldest are dropped, and how many is said with the next line that can be
/// written. From any thread.
///
/// spdlog's own asynchronous logger waits at its end for its thread without a
/// limit, and its flush does not wait at all.
class queued_sink final : public spdlog::sinks::sink {
public:
  /// Where lines go. Both are called by the thread, one at a time; it is left
  /// behind with them if it cannot write.
  struct outlet {
    std::function<void(std::string_view)> write; ///< Whole lines.
    /// A line, with its end, that says how many were dropped.
    std::function<std::string(std::size_t)> notice;
  };
  explicit queued_sink(outlet to);

  /// For an outlet: a console. @param descriptor Stays open while the process
  /// lives.
  static std::function<void(std::string_view)> to_console(int descriptor);
  /// Flushes, and ends the thread unless it is stuck.
  ~queued_sink() override;

  void log(const spdlog::details::log_msg& message) override;
  /// Waits until all is written, for two seconds at most.
  void flush() override;
  void set_pattern(const std::string& pattern) override;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

private:
  struct backlog;

  std::mutex formatting_;
  std::unique_ptr<spdlog::formatter> formatter_;
  std::shared_ptr<backlog> backlog_;
  std::thread thread_;
};

} // namespace graphmill
