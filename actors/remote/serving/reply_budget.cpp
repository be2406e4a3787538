#include "actors/remote/serving/reply_budget.hpp"

#include "messages/base/caught.hpp"

#include <utility>

namespace graphmill {

void reply_budget::grant::shrink(std::uint64_t bytes) {
  if (bytes >= bytes_)
    return;
  const auto rest = bytes_ - bytes;
  bytes_ = bytes;
  of_->give_back(asker_, rest);
}

std::shared_ptr<reply_budget>
reply_budget::make(std::uint64_t limit_bytes, std::function<void()> wake,
                   std::shared_ptr<reply_gauge> gauge) {
  return std::shared_ptr<reply_budget>{
    new reply_budget{limit_bytes, std::move(wake), std::move(gauge)}};
}

reply_budget::reply_budget(std::uint64_t limit, std::function<void()> wake,
                           std::shared_ptr<reply_gauge> gauge)
  : limit_(limit),
    gauge_(gauge ? std::move(gauge) : std::make_shared<reply_gauge>()),
    wake_(std::move(wake)) {
  gauge_->limit += limit;
}

void reply_budget::close() {
  const std::lock_guard lock{mutex_};
  wake_ = nullptr;
}

std::shared_ptr<reply_budget::grant>
reply_budget::take(const std::string& asker, std::uint64_t bytes) {
  auto out = std::make_shared<grant>(shared_from_this(), asker);
  const std::lock_guard lock{mutex_};
  const auto at = used_by_.find(asker);
  const auto own = at == used_by_.end() ? 0 : at->second;
  const auto fits = used_ == 0 || used_ + bytes <= limit_;
  if (!fits || (own != 0 && own + bytes > limit_ - used_)) {
    wanted_ = true;
    return nullptr;
  }
  if (bytes != 0)
    used_by_[asker] += bytes;
  used_ += bytes;
  gauge_->used += bytes;
  out->bytes_ = bytes;
  return out;
}

bool reply_budget::has_some(const std::string& asker) const {
  const std::lock_guard lock{mutex_};
  return used_by_.contains(asker);
}

std::uint64_t reply_budget::used() const {
  const std::lock_guard lock{mutex_};
  return used_;
}

void reply_budget::give_back(const std::string& asker, std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  used_ -= bytes;
  gauge_->used -= bytes;
  const auto at = used_by_.find(asker);
  at->second -= bytes;
  if (at->second == 0)
    used_by_.erase(at);
  // Under the lock, so that nobody is called after `close`.
  // Called by destructors: who cannot be woken now is by what comes back next.
  if (wanted_ && wake_)
    quietly([this] {
      wake_();
      wanted_ = false;
    });
}

payload keep_grant(payload answer,
                   const std::shared_ptr<reply_budget::grant>& grant) {
  const auto keep = [&grant](frame& part) {
    using both = std::pair<std::shared_ptr<const void>,
                           std::shared_ptr<reply_budget::grant>>;
    if (part.owner())
      part = frame::own(std::make_shared<const both>(part.owner(), grant),
                        part.bytes());
  };
  for (auto& part : answer.bulk)
    keep(part);
  return answer;
}

} // namespace graphmill
