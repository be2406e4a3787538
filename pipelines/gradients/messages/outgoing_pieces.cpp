#include "pipelines/gradients/messages/outgoing_pieces.hpp"

#include "pipelines/gradients/collective.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Two pieces at least fit into the window, so that one can be on its way while
/// the other is taken. No number is cut in two.
std::size_t piece_size(std::uint64_t window) {
  const auto half = window / 2 / piece_receiver::grain * piece_receiver::grain;
  return static_cast<std::size_t>(
    std::clamp<std::uint64_t>(half, least_piece, max_frame_bytes));
}

} // namespace

outgoing_pieces::outgoing_pieces(gradient_message address,
                                 std::shared_ptr<rank_link> link,
                                 std::function<void(error)> on_failure)
  : address_(std::move(address)), link_(std::move(link)),
    on_failure_(std::move(on_failure)), window_(link_->window(address_.to)),
    piece_bytes_(piece_size(window_)) {}

void outgoing_pieces::send(std::span<const std::byte> bytes,
                           std::shared_ptr<const void> owner) {
  const auto whole =
    owner ? frame::own(std::move(owner), bytes) : frame::copy(bytes);
  {
    std::lock_guard lock{mutex_};
    if (stopped_)
      return;
    auto head = address_;
    head.purpose = gradient_purpose::piece;
    head.transfer = transfers_++;
    head.total = whole.size();
    for (auto left = whole.bytes(); !left.empty();) {
      const auto next = left.first(std::min(left.size(), piece_bytes_));
      waiting_.push_back({head, frame::own(whole.owner(), next)});
      head.offset += next.size();
      left = left.subspan(next.size());
    }
  }
  pump();
}

void outgoing_pieces::stop() {
  std::deque<piece> dropped;
  std::lock_guard lock{mutex_};
  stopped_ = true;
  dropped.swap(waiting_);
}

/// Sends what the window allows; one thread at a time does so. A peer in this
/// process may answer within `link_->send`, and the answer calls this again:
/// then, as when another thread comes, the call that sends already goes on, or
/// calls would nest once per piece.
void outgoing_pieces::pump() {
  std::unique_lock lock{mutex_};
  if (std::exchange(pumping_, true))
    return;
  while (!waiting_.empty()
         && (unanswered_ == 0
             || unanswered_ + waiting_.front().bytes.size() <= window_)) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    const auto size = next.bytes.size();
    unanswered_ += size;
    lock.unlock();
    link_->send(next.head, std::move(next.bytes),
                [me = shared_from_this(), size](const result<void>& how) {
                  me->taken(size, how);
                });
    lock.lock();
  }
  pumping_ = false;
}

void outgoing_pieces::taken(std::uint64_t bytes, const result<void>& how) {
  {
    std::lock_guard lock{mutex_};
    unanswered_ -= bytes;
  }
  if (how)
    return pump();
  stop();
  on_failure_(how.error());
}

} // namespace graphmill
