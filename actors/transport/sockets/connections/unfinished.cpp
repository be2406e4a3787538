#include "actors/transport/sockets/connections/unfinished.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// How often connections are looked at: a fast network brings about a hundred
/// megabytes between two looks.
constexpr std::chrono::milliseconds unfinished_look_interval{100};

} // namespace

void unfinished_messages::opened(int descriptor) {
  connections_[descriptor] = {};
}

void unfinished_messages::closed(int descriptor) {
  connections_.erase(descriptor);
}

void unfinished_messages::finished(int descriptor) {
  if (const auto at = connections_.find(descriptor); at != connections_.end())
    at->second.moved = true;
}

std::vector<int> unfinished_messages::excess(session_time now,
                                             const received_bytes& received,
                                             const stranger_test& is_stranger) {
  if (now < next_tick())
    return {};
  looked_ = now;
  std::vector<std::pair<std::uint64_t, int>> waiting; ///< Bytes, and whose.
  std::uint64_t sum = 0;
  for (auto& [descriptor, at] : connections_) {
    const auto total = received(descriptor);
    // What came after the last whole message is not known, but soon will be.
    if (std::exchange(at.moved, false))
      at.before = total;
    const auto bytes = total - std::min(total, at.before);
    if (bytes == 0)
      continue;
    waiting.emplace_back(bytes, descriptor);
    sum += bytes;
  }
  std::sort(waiting.rbegin(), waiting.rend());
  std::vector<int> out;
  for (const auto& [bytes, descriptor] : waiting) {
    const auto own =
      is_stranger(descriptor) ? with_.stranger : with_.connection;
    if (bytes <= own && sum <= with_.total)
      continue;
    out.push_back(descriptor);
    sum -= bytes;
    connections_.erase(descriptor);
  }
  return out;
}

session_time unfinished_messages::next_tick() const {
  return connections_.empty() ? session_time::max()
                              : looked_ + unfinished_look_interval;
}

} // namespace graphmill
