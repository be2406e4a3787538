#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

/// Bytes of memory that this process holds, mapped files apart; 0 if the system
/// does not say.
std::uint64_t memory_in_use();

/// Tells others how a long piece of work goes on, a few times a second, and
/// passes on their wish to end it. It is used by the one thread that works; any
/// thread may set the flag that it looks at. It never ends the work by itself:
/// whoever works asks, often enough, and returns.
class monitor {
public:
  /// How many vertices may be worked on between two calls of `tell`.
  static constexpr unsigned interval = 1U << 14;

  /// @param stop Becomes true when the work shall end; may be null. Must
  /// outlive the monitor.
  /// @param estimate_seconds How long the work is expected to take as a whole,
  /// passed on with all progress.
  monitor(progress_callback on_progress, const std::atomic<bool>* stop,
          double estimate_seconds)
    : on_progress_(std::move(on_progress)), stop_(stop),
      estimate_seconds_(estimate_seconds) {}

  /// Says that `done` of `total` units of a phase are finished. Cheap; the
  /// first and the last unit of a phase are always passed on.
  /// @returns false when the work shall end.
  bool tell(std::string_view phase, std::uint64_t done,
            std::uint64_t total = 0) {
    const auto now = std::chrono::steady_clock::now();
    const auto fresh = phase != phase_;
    const auto last = total != 0 && done >= total;
    const auto due =
      fresh || last || now - told_ >= std::chrono::milliseconds{200};
    // What phases allocate for a moment is looked for more often than told.
    if (due || now - looked_ >= std::chrono::milliseconds{10}) {
      looked_ = now;
      note_memory(memory_in_use());
    }
    if (due) {
      phase_ = phase;
      told_ = now;
      if (on_progress_)
        on_progress_({phase, done, total, estimate_seconds_});
    }
    return !wants_stop();
  }

  /// Counts memory that was in use at some moment, here or in a child process.
  void note_memory(std::uint64_t bytes) {
    peak_memory_ = std::max(peak_memory_, bytes);
  }

  /// The most bytes that were in use at any of the moments when `tell` looked,
  /// every 10 ms if it is called as often, or `note_memory` was called, mapped
  /// files apart. What came and went between them is not seen. Pages that a
  /// child process shares with this one count once: what the system says of the
  /// child has all that it inherited in it.
  std::uint64_t peak_memory_bytes() const { return peak_memory_; }

  bool wants_stop() const {
    return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  }

  /// An error of code `cancelled` when the work shall end.
  result<void> check() const {
    if (wants_stop())
      return fail(ec::cancelled, "stopped on request; nothing was written");
    return ok();
  }

private:
  progress_callback on_progress_;
  const std::atomic<bool>* stop_;
  double estimate_seconds_;
  std::string phase_;
  std::uint64_t peak_memory_ = 0;
  std::chrono::steady_clock::time_point told_{};
  std::chrono::steady_clock::time_point looked_{};
};

} // namespace graphmill
