#include "actors/transport/sockets/connections/outbox.hpp"

#include <utility>

namespace graphmill {

namespace {

/// How soon whoever finds the queues full asks again.
constexpr std::chrono::milliseconds come_again{100};

/// How often connections are looked at.
constexpr std::chrono::seconds outbox_look_interval{1};

/// One connection may have that part of all bytes, and always one message.
constexpr std::uint64_t quota_divisor = 4;

message put_off(const message& outgoing, std::uint64_t waiting) {
  message out;
  out.head = outgoing.head;
  out.head.failed = true;
  out.head.failure = fail(
    ec::unavailable,
    "{} bytes of answers are unread already; ask for less at once", waiting);
  out.head.retry_after = come_again;
  return out;
}

} // namespace

bool outbox::send(session_time now, const std::string& connection_id,
                  message outgoing) {
  const auto [at, fresh] = connections_.try_emplace(connection_id);
  auto& connection = at->second;
  if (fresh) {
    connection.moved = now;
    connection.flow->port_bytes = held_;
  }
  const auto cost = cost_of(outgoing);
  const auto own = connection.queue.bytes() + connection.flow->bytes;
  const auto fits =
    (bytes() == 0 || bytes() + cost <= with_.limit_bytes)
    && (own == 0 || own + cost <= with_.limit_bytes / quota_divisor);
  if (!fits)
    outgoing = put_off(outgoing, bytes());
  if (connection.queue.empty()) {
    const auto state = send_(connection_id, outgoing, connection.flow);
    if (state == sent::gone)
      drop(at);
    if (state != sent::blocked)
      return fits;
    connection.moved = now;
  }
  connection.overrun = connection.queue.size() >= with_.most_messages;
  if (connection.overrun)
    return fits;
  bytes_ += cost_of(outgoing);
  connection.queue.push(std::move(outgoing));
  blocked_.insert(connection_id);
  return fits;
}

void outbox::flush(session_time now) {
  for (auto next = blocked_.begin(); next != blocked_.end();) {
    const auto connection_id = *next++;
    const auto at = connections_.find(connection_id);
    auto& connection = at->second;
    const auto before = connection.queue.bytes();
    const auto state = connection.queue.flush([&](const message& outgoing) {
      const auto became = send_(connection_id, outgoing, connection.flow);
      if (became == sent::done)
        connection.moved = now;
      return became;
    });
    bytes_ -= before - connection.queue.bytes();
    if (state == sent::gone)
      drop(at);
    else if (state == sent::done)
      blocked_.erase(connection_id);
  }
}

void outbox::forget(const std::string& connection_id) {
  if (const auto at = connections_.find(connection_id);
      at != connections_.end())
    drop(at);
}

void outbox::drop(connections::iterator at) {
  bytes_ -= at->second.queue.bytes();
  blocked_.erase(at->first);
  connections_.erase(at);
}

std::vector<std::string> outbox::stalled(session_time now) {
  std::vector<std::string> out;
  looked_ = now;
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto at = next++;
    auto& connection = at->second;
    const auto idle = connection.queue.empty() && connection.flow->held == 0;
    if (idle) {
      drop(at);
      continue;
    }
    const std::uint64_t freed = connection.flow->freed;
    if (std::exchange(connection.freed, freed) != freed)
      connection.moved = now;
    if (connection.overrun || now - connection.moved >= with_.patience)
      out.push_back(at->first);
  }
  return out;
}

session_time outbox::next_tick() const {
  return connections_.empty() ? session_time::max()
                              : looked_ + outbox_look_interval;
}

} // namespace graphmill
