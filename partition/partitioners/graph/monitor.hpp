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

/// Bytes of memory of this process without mapped files; 0 if unknown.
std::uint64_t memory_in_use();

/// Reports the progress of long work, a few times a second, and passes on the
/// wish to end it. Only the working thread uses it; any thread may set the flag
/// that it reads. It never ends the work itself: the worker checks often
/// enough, and returns.
class monitor {
public:
  /// The largest number of vertices between two calls of `tell`.
  static constexpr unsigned interval = 1U << 14;

  /// @param stop Becomes true when the work should end; may be null. Must
  /// outlive the monitor.
  /// @param estimate_seconds Expected time of the whole work, passed on with
  /// all progress.
  monitor(progress_callback on_progress, const std::atomic<bool>* stop,
          double estimate_seconds)
    : on_progress_(std::move(on_progress)), stop_(stop),
      estimate_seconds_(estimate_seconds) {}

  /// Reports that `done` of `total` units of a phase are finished. Cheap. The
  /// first and the last unit of a phase are always passed on.
  /// @returns false when the work should end.
  bool tell(std::string_view phase, std::uint64_t done,
            std::uint64_t total = 0) {
    const auto now = std::chrono::steady_clock::now();
    const auto fresh = phase != phase_;
    const auto last = total != 0 && done >= total;
    const auto due =
      fresh || last || now - told_ >= std::chrono::milliseconds{200};
    // Short allocations of phases are checked more often than progress.
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

  /// The largest number of bytes in use when `tell` looked, every 10 ms if it
  /// is called as often, or `note_memory` was called, without mapped files.
  /// Peaks between are not seen. Pages that a child process shares with this
  /// one count once: the figure of the child includes everything that it
  /// inherited.
  std::uint64_t peak_memory_bytes() const { return peak_memory_; }

  bool wants_stop() const {
    return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  }

  /// An error of code `cancelled` when the work should end.
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
