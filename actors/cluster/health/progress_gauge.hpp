#pragma once

#include "actors/run/conductor.hpp"
#include "messages/wire/health.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace graphmill {

/// How far a run is. The CONDUCTOR's observer writes it, and one reader at a
/// time reads it, without locks: its numbers need not belong to the same step.
class progress_gauge {
public:
  using clock = std::chrono::steady_clock;

  explicit progress_gauge(const definition& def)
    : epochs_(static_cast<std::int32_t>(def.train.epochs)),
      train_batch_(def.train.batch_size),
      evaluate_batch_(def.evaluate.batch_size) {}

  /// Has the observer of a run tell the gauge, too.
  static void observe(const std::shared_ptr<progress_gauge>& gauge,
                      run_observer& by);

  /// Nothing before the first step.
  std::optional<run_progress> read(clock::time_point now) const;

private:
  void on_step(const phase_request& work, std::int64_t done);

  const std::int32_t epochs_;
  const std::int64_t train_batch_;
  const std::int64_t evaluate_batch_;
  std::atomic<bool> begun_{false};
  std::atomic<phase> phase_{phase::train};
  std::atomic<std::int32_t> epoch_{-1};
  std::atomic<std::int64_t> first_{0}, step_{0}, steps_{0};
  std::atomic<double> rate_{0};
  std::atomic<double> loss_{std::numeric_limits<double>::quiet_NaN()};
  /// Of the first step of the phase that was told of, and of the last one.
  std::atomic<clock::rep> since_{0}, last_{0};
  std::atomic<clock::rep> checkpoint_{0}; ///< 0: none yet.
};

} // namespace graphmill
