#pragma once

#include "messages/base/error.hpp"
#include "messages/work/work_gauge.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace graphmill {

/// A thread of our own for long computations, so that they do not block a
/// thread of the actor system. It runs jobs in the order of posting. The
/// destructor finishes the current job, drops the others and joins. An actor
/// that may end before the process uses an ACTOR THREAD instead, which ends
/// without blocking a thread of the actor system.
class compute_thread {
public:
  /// @param gauge Reports the thread's jobs; may be null.
  explicit compute_thread(std::shared_ptr<work_gauge> gauge = nullptr)
    : gauge_(std::move(gauge)), thread_([this] { run(); }) {}
  ~compute_thread();
  compute_thread(const compute_thread&) = delete;
  compute_thread& operator=(const compute_thread&) = delete;

  /// Queues a job. If it throws, `failed` gets the reason, on the same thread,
  /// so that a job always ends. If `failed` throws, it is called again, a few
  /// times. From any thread.
  void post(std::function<void()> job,
            std::function<void(const error&)> failed);

  /// The number of jobs that have not started. Owners that post for others use
  /// it to limit waiting jobs.
  std::size_t waiting();

private:
  struct queued {
    std::function<void()> job;
    std::function<void(const error&)> failed;
  };

  void run();

  const std::shared_ptr<work_gauge> gauge_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<queued> jobs_;
  bool stop_ = false;
  std::thread thread_; ///< Last: it starts when everything else exists.
};

} // namespace graphmill
