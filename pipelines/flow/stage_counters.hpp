#pragma once

#include "messages/work/stage_report.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace graphmill {

/// The stage that limits the others: the one with the highest utilisation.
std::string bottleneck_of(const std::vector<stage_report>& stages,
                          double elapsed);

/// Counters of a stage, shared by its replicas. They outlive replicas that
/// crash and are restarted, which a report counts as well. Member functions are
/// named after events. Any thread may call them. Numbers of a report that is
/// made while others count need not belong to the same moment.
class stage_counters {
public:
  stage_counters(std::string stage, std::uint32_t replicas)
    : stage_(std::move(stage)), replicas_(replicas) {}

  using nanoseconds = std::chrono::nanoseconds;

  void item_done(std::uint64_t bytes) { ++items_, bytes_ += bytes; }
  void worked(nanoseconds wall, nanoseconds cpu) {
    busy_ += wall.count();
    cpu_ += cpu.count();
  }
  void waited_for_input(nanoseconds time) { input_ += time.count(); }
  void waited_for_credit(nanoseconds time) { credit_ += time.count(); }
  /// A worker that asks others for its data had a job.
  void held(nanoseconds time) { held_ += time.count(); }
  void restarted() { ++restarts_; }

  const std::string& stage() const { return stage_; }
  stage_report report() const;

private:
  std::string stage_;
  std::uint32_t replicas_;
  std::atomic<std::uint64_t> items_{0}, bytes_{0}, restarts_{0};
  std::atomic<std::int64_t> busy_{0}, cpu_{0}, input_{0}, credit_{0}, held_{0};
};

/// Processor time of the calling thread.
inline std::chrono::nanoseconds thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec}
         + std::chrono::nanoseconds{now.tv_nsec};
}

/// Counts the time of a scope as work of a stage: wall time, and processor time
/// of its thread, which must also end it.
class busy_scope {
public:
  explicit busy_scope(stage_counters& counters)
    : counters_(counters), wall_(clock::now()), cpu_(thread_cpu_time()) {}
  ~busy_scope() {
    counters_.worked(clock::now() - wall_, thread_cpu_time() - cpu_);
  }
  busy_scope(const busy_scope&) = delete;
  busy_scope& operator=(const busy_scope&) = delete;

private:
  using clock = std::chrono::steady_clock;
  stage_counters& counters_;
  clock::time_point wall_;
  std::chrono::nanoseconds cpu_;
};

} // namespace graphmill
