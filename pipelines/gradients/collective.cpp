#include "pipelines/gradients/collective.hpp"

#include <utility>

namespace graphmill {

std::uint64_t progress_bell::count() const {
  std::lock_guard lock{mutex_};
  return count_;
}

void progress_bell::ring() {
  {
    std::lock_guard lock{mutex_};
    ++count_;
  }
  rung_.notify_all();
}

void progress_bell::wait(std::uint64_t seen,
                         std::chrono::milliseconds at_most) const {
  std::unique_lock lock{mutex_};
  rung_.wait_for(lock, at_most, [this, seen] { return count_ != seen; });
}

operation::operation(std::shared_ptr<progress_bell> bell, rank_id ranks)
  : bell_(std::move(bell)), incoming_(static_cast<std::size_t>(ranks)) {}

bool operation::done() const {
  std::lock_guard lock{mutex_};
  return open_ == 0 && !failure_;
}

std::optional<operation::failure> operation::failed() const {
  std::lock_guard lock{mutex_};
  return failure_;
}

bool operation::heard(rank_id peer) const {
  std::lock_guard lock{mutex_};
  return incoming_[static_cast<std::size_t>(peer)] == 0;
}

void operation::expect(rank_id peer, bool incoming) {
  std::lock_guard lock{mutex_};
  ++open_;
  incoming_[static_cast<std::size_t>(peer)] += incoming;
}

void operation::transfer_done(rank_id peer, bool incoming) {
  {
    std::lock_guard lock{mutex_};
    incoming_[static_cast<std::size_t>(peer)] -= incoming;
    if (--open_ != 0)
      return;
  }
  bell_->ring();
}

void operation::fail_with(failure reason) {
  {
    std::lock_guard lock{mutex_};
    if (failure_ || open_ == 0)
      return;
    failure_ = std::move(reason);
  }
  bell_->ring();
}

} // namespace graphmill
