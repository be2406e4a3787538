#pragma once

#include <spdlog/fwd.h>

#include <future>
#include <memory>
#include <thread>

namespace graphmill {

/// Says so when actors do not end while it exists, and leaves the process,
/// instead of hanging silently.
class shutdown_watchdog {
public:
  /// @param forced Whether the user has asked to stop at once.
  shutdown_watchdog(std::shared_ptr<spdlog::logger> log, bool forced);
  ~shutdown_watchdog();
  shutdown_watchdog(const shutdown_watchdog&) = delete;
  shutdown_watchdog& operator=(const shutdown_watchdog&) = delete;

private:
  void watch() noexcept;

  std::shared_ptr<spdlog::logger> log_;
  const bool forced_;
  std::promise<void> done_;
  std::future<void> end_ = done_.get_future();
  std::thread thread_; ///< Last: uses the others.
};

} // namespace graphmill
