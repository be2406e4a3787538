#include "pipelines/gradients/messages/incoming_transfers.hpp"

#include <cstring>
#include <iterator>
#include <utility>

namespace graphmill {

namespace {

using byte_ranges = std::map<std::uint64_t, std::uint64_t>;

/// Notes that the bytes from `begin` to `end` have come. Ranges that touch are
/// made one, so that there are few of them. Fails if only some of the bytes
/// have come before: a sender cuts a transfer but once.
/// @returns false if all of them have come before.
result<bool> note(byte_ranges& come, std::uint64_t begin, std::uint64_t end) {
  const auto next = come.upper_bound(begin);
  const auto before = next == come.begin() ? come.end() : std::prev(next);
  if (before != come.end() && before->second >= end)
    return false;
  if ((before != come.end() && before->second > begin)
      || (next != come.end() && next->first < end))
    return fail(ec::invalid_data,
                "some of the bytes from {} to {} have come before, and some "
                "have not",
                begin, end);
  if (next != come.end() && next->first == end) {
    end = next->second;
    come.erase(next);
  }
  if (before != come.end() && before->second == begin)
    before->second = end;
  else
    come.emplace(begin, end);
  return true;
}

/// Whether a piece begins or ends where none of a receiver's may.
bool cuts_number(const gradient_message& head, std::size_t size) {
  const auto end = head.offset + size;
  return head.offset % piece_receiver::grain != 0
         || (end % piece_receiver::grain != 0 && end != head.total);
}

} // namespace

void incoming_transfers::expect(const transfer& place,
                                std::shared_ptr<operation> of) {
  std::vector<outcome> outcomes;
  {
    std::unique_lock lock{mutex_};
    const auto number = expected_++;
    if (failed_) {
      const auto reason = *failed_;
      lock.unlock();
      of->fail_with(reason);
      return;
    }
    open_.emplace(number,
                  transfer_in{place, std::move(of), place.bytes.size(), {}});
    const auto [first, last] = early_.equal_range(number);
    for (auto at = first; at != last; ++at) {
      auto answer = take(at->second);
      outcomes.push_back({std::move(at->second.done), std::move(answer)});
    }
    early_.erase(first, last);
  }
  for (auto& came : outcomes)
    came.done(std::move(came.answer));
}

void incoming_transfers::deliver(const gradient_message& head, frame bytes,
                                 message_answer done) {
  auto answer = [&]() -> std::optional<result<void>> {
    std::lock_guard lock{mutex_};
    if (refusal_)
      return *refusal_;
    piece came{head, std::move(bytes), done};
    if (failed_ || head.transfer >= expected_) {
      early_.emplace(head.transfer, std::move(came));
      return std::nullopt;
    }
    return take(came);
  }();
  if (answer)
    done(std::move(*answer));
}

/// A piece of a transfer that is, or was, expected.
result<void> incoming_transfers::take(const piece& from) {
  const auto at = open_.find(from.head.transfer);
  if (at == open_.end())
    return ok(); // All of it has come before.
  GRAPHMILL_TRYV(put(at->second, from));
  if (at->second.missing == 0) {
    at->second.of->transfer_done(peer_, true);
    open_.erase(at);
  }
  return ok();
}

result<void> incoming_transfers::put(transfer_in& to, const piece& from) const {
  const auto& head = from.head;
  const auto size = from.bytes.size();
  const auto expected = to.place.bytes.size();
  if (head.total != expected)
    return graphmill::fail(ec::invalid_data,
                           "rank {} sends {} bytes as transfer {} where rank "
                           "{} expects {}",
                           peer_, head.total, head.transfer, head.to, expected);
  GRAPHMILL_TRYV(check_piece(head, size));
  if (to.place.receiver && cuts_number(head, size))
    return graphmill::fail(ec::invalid_data,
                           "rank {} sends {} bytes from {} on of transfer {}, "
                           "which cuts a number in two",
                           peer_, size, head.offset, head.transfer);
  GRAPHMILL_TRY(const auto fresh,
                note(to.come, head.offset, head.offset + size));
  if (!fresh)
    return ok();
  if (to.place.receiver)
    to.place.receiver->take(peer_, head.offset, from.bytes);
  else
    std::memcpy(to.place.bytes.data() + head.offset, from.bytes.data(), size);
  to.missing -= size;
  return ok();
}

void incoming_transfers::fail(const operation::failure& reason) {
  transfers open;
  {
    std::lock_guard lock{mutex_};
    if (failed_)
      return;
    failed_ = reason;
    open.swap(open_);
  }
  for (auto& [number, expected] : open)
    expected.of->fail_with(reason);
}

void incoming_transfers::refuse(const error& reason) {
  std::multimap<std::uint64_t, piece> early;
  {
    std::lock_guard lock{mutex_};
    refusal_ = reason;
    early.swap(early_);
  }
  for (auto& [number, held] : early)
    held.done(reason);
}

} // namespace graphmill
