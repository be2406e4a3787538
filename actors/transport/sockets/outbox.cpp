#include "actors/transport/sockets/outbox.hpp"

#include <utility>

namespace graphmill {

namespace {

/// How soon whoever finds the queues full asks again.
constexpr std::chrono::milliseconds come_again{100};

/// How often connections are looked at.
constexpr std::chrono::seconds outbox_look_interval{1};

/// One connection may have that part of all bytes, and always one message.
constexpr std::uint64_t share_of_one = 4;

message put_off(const message& what, std::uint64_t waiting) {
  message out;
  out.head = what.head;
  out.head.failed = true;
  out.head.failure = fail(ec::unavailable,
                          "{} bytes of answers wait to be taken already; ask "
                          "for less at once",
                          waiting);
  out.head.retry_after = come_again;
  return out;
}

} // namespace

bool outbox::send(session_time now, const std::string& route, message what) {
  const auto [at, fresh] = lanes_.try_emplace(route);
  auto& lane = at->second;
  if (fresh) {
    lane.moved = now;
    lane.flow->all = held_;
  }
  const auto cost = cost_of(what);
  const auto own = lane.queue.bytes() + lane.flow->bytes;
  const auto fits =
    (bytes() == 0 || bytes() + cost <= with_.limit_bytes)
    && (own == 0 || own + cost <= with_.limit_bytes / share_of_one);
  if (!fits)
    what = put_off(what, bytes());
  if (lane.queue.empty()) {
    const auto state = send_(route, what, lane.flow);
    if (state == sent::gone)
      drop(at);
    if (state != sent::blocked)
      return fits;
    lane.moved = now;
  }
  lane.overrun = lane.queue.size() >= with_.most_messages;
  if (lane.overrun)
    return fits;
  bytes_ += cost_of(what);
  lane.queue.push(std::move(what));
  blocked_.insert(route);
  return fits;
}

void outbox::flush(session_time now) {
  for (auto next = blocked_.begin(); next != blocked_.end();) {
    const auto route = *next++;
    const auto at = lanes_.find(route);
    auto& lane = at->second;
    const auto before = lane.queue.bytes();
    const auto state = lane.queue.flush([&](const message& what) {
      const auto became = send_(route, what, lane.flow);
      if (became == sent::done)
        lane.moved = now;
      return became;
    });
    bytes_ -= before - lane.queue.bytes();
    if (state == sent::gone)
      drop(at);
    else if (state == sent::done)
      blocked_.erase(route);
  }
}

void outbox::forget(const std::string& route) {
  if (const auto at = lanes_.find(route); at != lanes_.end())
    drop(at);
}

void outbox::drop(lanes::iterator at) {
  bytes_ -= at->second.queue.bytes();
  blocked_.erase(at->first);
  lanes_.erase(at);
}

std::vector<std::string> outbox::stalled(session_time now) {
  std::vector<std::string> out;
  looked_ = now;
  for (auto next = lanes_.begin(); next != lanes_.end();) {
    const auto at = next++;
    auto& lane = at->second;
    const auto idle = lane.queue.empty() && lane.flow->held == 0;
    if (idle) {
      drop(at);
      continue;
    }
    const std::uint64_t freed = lane.flow->freed;
    if (std::exchange(lane.freed, freed) != freed)
      lane.moved = now;
    if (lane.overrun || now - lane.moved >= with_.patience)
      out.push_back(at->first);
  }
  return out;
}

session_time outbox::next_tick() const {
  return lanes_.empty() ? session_time::max() : looked_ + outbox_look_interval;
}

} // namespace graphmill
