#include "pipelines/kernels/thread_team.hpp"

#include "pipelines/flow/stage_counters.hpp"

#include <csignal>

namespace graphmill {

thread_team::~thread_team() {
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& helper : helpers_)
    helper.join();
}

void thread_team::run(std::int64_t pieces, const work& body) {
  if (threads_ == 1 || pieces <= 1) {
    for (std::int64_t p = 0; p < pieces; ++p)
      body(p);
    return;
  }
  while (helpers_.size() + 1 < threads_)
    helpers_.emplace_back([this] { help(); });
  {
    const std::lock_guard lock{mutex_};
    body_ = &body;
    pieces_ = pieces;
    next_ = 0;
    failure_ = nullptr;
    open_ = true;
  }
  wake_.notify_all();
  take_pieces();
  // All pieces have been taken. Helpers that wake up now find the loop closed,
  // so only those that are at work are waited for.
  std::unique_lock lock{mutex_};
  open_ = false;
  idle_.wait(lock, [this] { return busy_ == 0; });
  if (failure_)
    std::rethrow_exception(failure_);
}

void thread_team::help() {
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::unique_lock lock{mutex_};
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || (open_ && next_ < pieces_); });
    if (stop_)
      return;
    ++busy_;
    lock.unlock();
    const auto before = thread_cpu_time();
    take_pieces();
    helper_cpu_ += (thread_cpu_time() - before).count();
    lock.lock();
    if (--busy_ == 0)
      idle_.notify_one();
  }
}

void thread_team::take_pieces() {
  try {
    for (auto p = next_++; p < pieces_; p = next_++)
      (*body_)(p);
  } catch (...) {
    const std::lock_guard lock{mutex_};
    if (!failure_)
      failure_ = std::current_exception();
    next_ = pieces_;
  }
}

} // namespace graphmill
