#include "actors/process/shutdown_watchdog.hpp"

#include "messages/base/caught.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <cstdlib>
#include <system_error>

namespace graphmill {

namespace {

/// How long actors may take to end after a run; then we say so and leave.
constexpr std::chrono::seconds shutdown_patience{60};
/// The same when the user has asked twice: a step may take longer than that.
constexpr std::chrono::seconds forced_patience{3};
/// Exit codes of leaving without the actors: EX_SOFTWARE of sysexits.h, and
/// what shells give after SIGINT.
constexpr int exit_stuck = 70;
constexpr int exit_interrupted = 130;

} // namespace

shutdown_watchdog::shutdown_watchdog(std::shared_ptr<spdlog::logger> log,
                                     bool forced)
  : log_(std::move(log)), forced_(forced) {
  try {
    thread_ = std::thread{[this] { watch(); }};
  } catch (const std::system_error& refused) {
    log_->warn("the shutdown watchdog cannot run: {}", refused.what());
  }
}

shutdown_watchdog::~shutdown_watchdog() {
  done_.set_value();
  if (thread_.joinable())
    thread_.join();
}

void shutdown_watchdog::watch() noexcept {
  const auto patience = forced_ ? forced_patience : shutdown_patience;
  if (end_.wait_for(patience) != std::future_status::timeout)
    return;
  quietly([this, patience] {
    if (forced_)
      log_->warn("stopped by the user in the middle of a step");
    else
      log_->critical("actors did not end within {} s; leaving without them",
                     patience.count());
    log_->flush();
  });
  std::_Exit(forced_ ? exit_interrupted : exit_stuck);
}

} // namespace graphmill
