#include "actors/process/shutdown_watchdog.hpp"

#include <chrono>
#include <cstdlib>

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
  : thread_([this, forced, log = std::move(log)] {
      const auto patience = forced ? forced_patience : shutdown_patience;
      if (done_.get_future().wait_for(patience) != std::future_status::timeout)
        return;
      if (forced)
        log->warn("stopped by the user in the middle of a step");
      else
        log->critical("actors did not end within {} s; leaving without them",
                      patience.count());
      log->flush();
      std::_Exit(forced ? exit_interrupted : exit_stuck);
    }) {}

shutdown_watchdog::~shutdown_watchdog() {
  done_.set_value();
  thread_.join();
}

} // namespace graphmill
