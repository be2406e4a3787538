#pragma once

#include "actors/base/compute_thread.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <spdlog/fwd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace graphmill {

/// Writes the checkpoints of a run on a thread of its own, so that neither
/// training nor an actor waits for the disk, and gives way to training. One is
/// written at a time: whoever asks when that is not done yet does without, but
/// for the last one of a run, which waits in line. What cannot be written is
/// said once, in the log, and the run goes on: the checkpoints before it stay.
///
/// `begin` and `write` are the CONDUCTOR's, one thread at a time; `finish` is
/// that of whoever concludes the run, after the conductor's end.
class checkpoint_writer {
public:
  struct setting {
    std::filesystem::path folder; ///< Of checkpoints.
    std::uint32_t keep = 1;       ///< The newest ones.
    /// What each checkpoint says of the run; `seconds` are those before.
    checkpoint about;
    std::shared_ptr<spdlog::logger> log;
    /// Told the name of each that is written, on the writer's thread. Empty:
    /// nobody.
    std::function<void(const std::string& name)> on_written{};
  };

  explicit checkpoint_writer(setting how);

  /// Whether there is room for one more now.
  /// @param last Of the run: there always is.
  bool begin(bool last);

  /// @param metrics The lines of metrics.jsonl of the epochs behind it.
  void write(training_state state, metrics_part metrics);

  /// No weights came for the checkpoint.
  void missed(const error& reason);

  /// Waits until all is written, for a minute at the most.
  void finish();

private:
  using clock = std::chrono::steady_clock;

  void write_now(const checkpoint& made);
  void complain(const std::string& sentence);
  void done();

  const setting how_;
  const clock::time_point began_ = clock::now();
  std::mutex mutex_;
  std::condition_variable written_;
  int waiting_ = 0; ///< To be written, the one at hand included.
  std::int64_t skipped_ = 0;
  bool failing_ = false;  ///< The last one could not be written.
  compute_thread thread_; ///< Last: ends before what its jobs use.
};

} // namespace graphmill
