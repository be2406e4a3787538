#include "actors/feed/feed_consumer.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <span>
#include <utility>

namespace graphmill {

bool feed_consumer::hand(std::uint64_t number, std::uint64_t pass,
                         std::shared_ptr<minibatch> batch) {
  const auto frame = batch_frame(
    number, pass, static_cast<const formed_batch&>(*batch), memory_);
  // Until the batch is here: it may be freed as soon as it is sent.
  std::lock_guard lock{mutex_};
  const auto sent = socket_.send(std::as_bytes(std::span{frame}));
  if (sent && !sent.value())
    return false;
  next_ = std::max(next_, number + 1);
  // A consumer that is gone needs no batch. `run_feed` notices it, too.
  if (sent)
    batches_.emplace(number, std::move(batch));
  return true;
}

void feed_consumer::free(const std::vector<batch_back>& batches) {
  std::vector<std::shared_ptr<minibatch>> freed; // Without the lock.
  std::lock_guard lock{mutex_};
  for (const auto& one : batches)
    if (const auto it = batches_.find(one.sequence);
        one.freed && it != batches_.end()) {
      freed.push_back(std::move(it->second));
      batches_.erase(it);
    }
}

std::uint64_t feed_consumer::next_number() const {
  std::lock_guard lock{mutex_};
  return next_;
}

void feed_consumer::report(const error& reason) {
  log_->warn("{}", reason.message);
  std::lock_guard lock{mutex_};
  if (failure_.empty())
    failure_ = error_frame(reason);
  tell();
}

void feed_consumer::waits(const std::string& what) {
  std::lock_guard lock{mutex_};
  waits_ = waits_frame(what);
  tell();
}

void feed_consumer::judged(const result<verdict>& said) {
  std::lock_guard lock{mutex_};
  verdict_ = verdict_frame(said);
  tell();
}

void feed_consumer::tell_again() {
  std::lock_guard lock{mutex_};
  tell();
}

/// With the lock. A consumer that is gone is told nothing.
void feed_consumer::tell() {
  for (auto* frame : {&waits_, &verdict_, &failure_}) {
    if (frame->empty())
      continue;
    const auto sent = socket_.send(std::as_bytes(std::span{*frame}));
    if (sent && !sent.value())
      return;
    frame->clear();
  }
}

} // namespace graphmill
