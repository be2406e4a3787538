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

/// A thread of our own for long computations, so that they do not hold a thread
/// of the actor system. Runs jobs in the order they were posted. The destructor
/// finishes the job at hand, drops the others and joins. An actor that may end
/// while the process goes on uses an ACTOR THREAD instead, which ends without
/// holding a thread of the actor system for that join.
class compute_thread {
public:
  /// @param gauge Says when the thread is at a job; may be null.
  explicit compute_thread(std::shared_ptr<work_gauge> gauge = nullptr)
    : gauge_(std::move(gauge)), thread_([this] { run(); }) {}
  ~compute_thread();
  compute_thread(const compute_thread&) = delete;
  compute_thread& operator=(const compute_thread&) = delete;

  /// Queues a job. If it throws, `failed` is told why, on the same thread: a
  /// job that others wait for ends one way or the other. What `failed` throws
  /// makes it be called again, a few times. From any thread.
  void post(std::function<void()> job,
            std::function<void(const error&)> failed);

  /// How many jobs have not begun. Owners who post on behalf of others use it
  /// to limit how many may wait.
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
  std::thread thread_; ///< Last: starts when all else is there.
};

} // namespace graphmill
