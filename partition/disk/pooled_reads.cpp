#include "partition/disk/block_reads.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace graphmill {

namespace {

constexpr unsigned most_threads = 32;

class pool final : public block_reads {
public:
  /// Goes on with the threads that could be started: fewer reads at a time are
  /// slower, and nothing else. Throws if there is none.
  explicit pool(unsigned depth) {
    const auto count = std::clamp(depth, 1u, most_threads);
    threads_.reserve(count);  // Afterwards only the start of a thread can fail.
    outcomes_.reserve(depth); // So that threads need no memory for them.
    try {
      while (threads_.size() < count)
        threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      if (threads_.empty())
        throw;
    }
  }

  /// Drops reads that no thread has begun, and waits for the others.
  ~pool() override {
    {
      std::lock_guard lock{mutex_};
      over_ = true;
    }
    wanted_.notify_all();
    for (auto& thread : threads_)
      thread.join();
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  void begin(const read& wanted) override {
    {
      std::lock_guard lock{mutex_};
      waiting_.push_back(wanted);
    }
    wanted_.notify_one();
  }

  void collect(bool wait, std::vector<outcome>& out) override {
    std::unique_lock lock{mutex_};
    // Something is under way, so the disk bounds this wait.
    if (wait)
      come_.wait(lock, [this] { return !outcomes_.empty(); });
    out.insert(out.end(), outcomes_.begin(), outcomes_.end());
    outcomes_.clear();
  }

private:
  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      // Bounded by the destructor, which every owner runs.
      wanted_.wait(lock, [this] { return over_ || !waiting_.empty(); });
      if (over_)
        return;
      const auto next = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      const auto bytes =
        ::pread(next.fd, next.to, next.size, static_cast<off_t>(next.offset));
      const auto outcome = bytes < 0 ? -std::int64_t{errno} : bytes;
      lock.lock();
      outcomes_.push_back({next.tag, outcome});
      come_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wanted_, come_;
  std::deque<read> waiting_;
  std::vector<outcome> outcomes_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<block_reads> pooled_reads(unsigned depth) {
  return std::make_unique<pool>(depth);
}

} // namespace graphmill
