#include "actors/transport/sockets/message_faults.hpp"

#include "messages/wire/method.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

void message_faults::begin(session_time now, const link_fault& fault) {
  if (fault.what == link_fault::kind::corrupt) {
    to_damage_ = fault.messages;
    return;
  }
  peer_ = fault.peer;
  each_ = fault.each;
  until_ = now + fault.lasts;
}

bool message_faults::take(session_time now, const target& where,
                          message& content) {
  if (to_damage_ > 0 && content.head.method != method::hello
      && traits_of(content.head.method).channel == channel::data) {
    --to_damage_;
    content.damaged = true;
  }
  const auto chosen =
    now < until_ && (peer_.empty() || (!where.guest && where.to == peer_));
  if (!chosen && !count_.contains(where.to))
    return false;
  const auto cost = cost_of(content);
  if (waiting_.size() >= most || bytes_ + cost > most_bytes) {
    until_ = now;
    for (auto& one : waiting_)
      one.due = now;
  }
  auto due = chosen && now < until_ ? now + each_ : now;
  if (!waiting_.empty()) // Faults may follow each other with other times.
    due = std::max(due, waiting_.back().due);
  bytes_ += cost;
  ++count_[where.to];
  waiting_.push_back({where, std::move(content), due});
  return true;
}

std::vector<message_faults::held> message_faults::due(session_time now) {
  std::vector<held> out;
  while (!waiting_.empty() && waiting_.front().due <= now) {
    auto& first = waiting_.front();
    bytes_ -= cost_of(first.content);
    const auto count = count_.find(first.where.to);
    if (--count->second == 0)
      count_.erase(count);
    out.push_back(std::move(first));
    waiting_.pop_front();
  }
  return out;
}

void message_faults::forget(const std::string& to) {
  if (count_.erase(to) == 0)
    return;
  std::erase_if(waiting_, [this, &to](const held& one) {
    if (one.where.to != to)
      return false;
    bytes_ -= cost_of(one.content);
    return true;
  });
}

session_time message_faults::next_tick() const {
  return waiting_.empty() ? session_time::max() : waiting_.front().due;
}

} // namespace graphmill
