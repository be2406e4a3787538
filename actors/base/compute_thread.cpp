#include "actors/base/compute_thread.hpp"

#include "messages/base/caught.hpp"

#include <utility>

namespace graphmill {

compute_thread::~compute_thread() {
  std::deque<queued> dropped;
  {
    std::lock_guard lock{mutex_};
    stop_ = true;
    dropped.swap(jobs_);
  }
  wake_.notify_one();
  dropped.clear(); // What they hold need not wait for the job at hand.
  thread_.join();
}

void compute_thread::post(std::function<void()> job,
                          std::function<void(const error&)> failed) {
  {
    std::lock_guard lock{mutex_};
    jobs_.push_back({std::move(job), std::move(failed)});
  }
  wake_.notify_one();
}

std::size_t compute_thread::waiting() {
  std::lock_guard lock{mutex_};
  return jobs_.size();
}

void compute_thread::run() {
  for (;;) {
    queued next;
    {
      std::unique_lock lock{mutex_};
      // Bounded by the destructor, which every owner runs.
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_)
        return;
      next = std::move(jobs_.front());
      jobs_.pop_front();
    }
    try {
      next.job();
    } catch (...) {
      next.failed(caught("finish a job"));
    }
  }
}

} // namespace graphmill
