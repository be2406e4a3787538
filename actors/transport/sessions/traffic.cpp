#include "actors/transport/sessions/traffic.hpp"

namespace graphmill {

void traffic_counters::count(method which, flow direction,
                             std::uint64_t bytes) {
  const auto row = static_cast<std::size_t>(which);
  auto& cell =
    flows_[row < method_count ? row : 0][static_cast<std::size_t>(direction)];
  cell.messages.fetch_add(1, std::memory_order_relaxed);
  cell.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void traffic_counters::count(event what, std::uint64_t times) {
  events_[static_cast<std::size_t>(what)].fetch_add(times,
                                                    std::memory_order_relaxed);
}

traffic traffic_counters::read() const {
  traffic out;
  for (std::size_t row = 0; row < method_count; ++row) {
    const auto at = [this, row](flow direction) -> flow_count {
      const auto& cell = flows_[row][static_cast<std::size_t>(direction)];
      return {cell.messages.load(std::memory_order_relaxed),
              cell.bytes.load(std::memory_order_relaxed)};
    };
    out.methods[row] = {at(flow::request_sent), at(flow::request_received),
                        at(flow::reply_sent), at(flow::reply_received)};
  }
  const auto events = [this](event what) {
    return events_[static_cast<std::size_t>(what)].load(
      std::memory_order_relaxed);
  };
  out.retries = events(event::retry);
  out.duplicates = events(event::duplicate);
  out.late_replies = events(event::late_reply);
  out.malformed = events(event::malformed);
  out.refused = events(event::refused);
  out.put_off = events(event::put_off);
  out.strangers = events(event::stranger);
  out.stalled = events(event::stalled);
  out.copied_frames = events(event::copied_frame);
  return out;
}

} // namespace graphmill
