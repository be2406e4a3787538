#pragma once

#include <spdlog/sinks/sink.h>

#include <memory>
#include <mutex>
#include <thread>

namespace graphmill {

/// Writes the log of a daemon to its console by a thread of its own, so that
/// nobody waits for a terminal that is stopped or a pipe that nobody reads.
/// Lines wait in a queue of 1 MiB; when it is full, the oldest are dropped, and
/// how many is said with the next line that can be written. From any thread.
///
/// spdlog's own asynchronous logger waits at its end for its thread without a
/// limit, and its flush does not wait at all.
class console_sink final : public spdlog::sinks::sink {
public:
  /// @param descriptor Where lines go. Stays open while the process lives: the
  /// thread is left behind if it cannot write.
  explicit console_sink(int descriptor);
  /// Flushes, and ends the thread unless it is stuck.
  ~console_sink() override;

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
