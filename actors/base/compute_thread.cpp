#include "actors/base/compute_thread.hpp"

#include "messages/base/caught.hpp"

#include <chrono>
#include <utility>

namespace graphmill {

namespace {

/// How often somebody is told of a failure, and the first pause between: about
/// a second in all.
constexpr int most_tellings = 10;
constexpr std::chrono::milliseconds first_pause{1};

/// Tells whoever waits for a job what that has thrown. Called by the handler of
/// the exception. Memory may be short, so that telling throws, too: then again
/// after a while, for whoever is not told waits for ever.
void tell_failure(const std::function<void(const error&)>& failed) noexcept {
  auto pause = first_pause;
  for (int i = 0; i < most_tellings; ++i) {
    try {
      failed(caught("finish a job"));
      return;
    } catch (...) {
      std::this_thread::sleep_for(pause);
      pause *= 2;
    }
  }
}

} // namespace

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
    const work_scope at{gauge_, "a job"};
    try {
      next.job();
    } catch (...) {
      tell_failure(next.failed);
    }
  }
}

} // namespace graphmill
