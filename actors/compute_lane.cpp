#include "actors/compute_lane.hpp"

#include <utility>

namespace graphmill {

compute_lane::~compute_lane() {
  std::deque<std::function<void()>> dropped;
  {
    std::lock_guard lock{mutex_};
    stop_ = true;
    dropped.swap(jobs_);
  }
  wake_.notify_one();
  dropped.clear(); // What they hold need not wait for the job at hand.
  thread_.join();
}

void compute_lane::post(std::function<void()> job) {
  {
    std::lock_guard lock{mutex_};
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

std::size_t compute_lane::waiting() {
  std::lock_guard lock{mutex_};
  return jobs_.size();
}

void compute_lane::run() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock{mutex_};
      // Bounded by the destructor, which every owner runs.
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_)
        return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

} // namespace graphmill
