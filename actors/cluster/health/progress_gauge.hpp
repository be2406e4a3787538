#pragma once

#include "actors/run/run_observer.hpp"
#include "messages/wire/health.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// What the attempts of a run before have left, for the gauge of the next one.
struct progress_before {
  double loss = std::numeric_limits<double>::quiet_NaN();
  /// When the last one was written, if there is any.
  std::optional<std::chrono::steady_clock::time_point> checkpoint = {};
};

/// How far a run is. The CONDUCTOR's observer writes it, and one reader at a
/// time reads it, without locks: its numbers need not belong to the same step.
///
/// The pace is that of training alone: seeds and steps that all ranks have done
/// in the last 10 to 20 s of the epoch, or of it while it is younger, by the
/// time until the last of them. It stays while
/// other phases are on, and until the next epoch has done a step; but nothing
/// is known of it when no step has been done for so long that the run stands
/// still, as without one of its daemons.
///
/// The loss is that of the last whole epoch of training; of an epoch that takes
/// longer, that of its last 10 to 20 s, until the next one is over or takes as
/// long; and in the first one it is told from the first step on.
class progress_gauge {
public:
  using clock = std::chrono::steady_clock;

  /// @param train_seeds Of an epoch. @param now The time of what is told.
  progress_gauge(const definition& def, std::int64_t train_seeds,
                 const progress_before& before = {},
                 std::function<clock::time_point()> now = clock::now);

  /// Has the observer of a run tell the gauge, too.
  static void observe(const std::shared_ptr<progress_gauge>& gauge,
                      run_observer& by);

  /// A checkpoint is on disk. From any thread: what the CONDUCTOR hands over to
  /// be written may not get there.
  void wrote_checkpoint();

  /// Nothing before the first phase.
  std::optional<run_progress> read(clock::time_point now) const;

private:
  void on_begin(const phase_request& work);
  void on_step(const phase_request& work, std::int64_t done,
               const batch_metrics& part);
  void add_loss(const batch_metrics& part);
  std::int64_t seeds_until(std::int64_t step) const;
  std::int64_t steps_from(const phase_request& work) const;
  bool stands_still(clock::time_point now) const;

  const std::function<clock::time_point()> now_; ///< From any thread.
  const std::string work_; ///< Of a run that trains nothing; else empty.
  const std::int32_t epochs_;
  const std::int64_t train_batch_;
  const std::int64_t train_seeds_;
  const std::int64_t max_steps_; ///< Of the run; 0: no limit.
  /// Where a phase was at some moment.
  struct mark {
    clock::time_point at{};
    std::int64_t step = 0;
    batch_metrics sums{}; ///< Of its steps until then.
  };
  mark from_;      ///< With what the pace begins, and the loss of a long epoch.
  mark from_next_; ///< And will begin.
  std::int64_t left_at_begin_ = 0;
  bool first_epoch_;     ///< None is over yet.
  bool is_long_ = false; ///< The epoch that is on, or was last.
  batch_metrics sums_;   ///< Of it.
  std::atomic<bool> begun_{false};
  std::atomic<phase> phase_{phase::train};
  std::atomic<std::int32_t> epoch_{-1};
  std::atomic<std::int64_t> step_{0}, steps_{0};
  std::atomic<std::int64_t> left_{0}; ///< Steps of training, of the run.
  std::atomic<double> rate_{0};
  std::atomic<double> loss_;
  /// In a second of training; 0: not known yet.
  std::atomic<double> seeds_pace_{0}, steps_pace_{0};
  std::atomic<clock::rep> moved_{0}; ///< When a phase began, or its last step.
  std::atomic<clock::rep> checkpoint_{0}; ///< 0: none yet.
};

} // namespace graphmill
