#include "pipelines/health/board_trace.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

using traced_gauges = std::vector<std::shared_ptr<const actor_gauge>>;

/// Those for whom an answer has room.
traced_gauges those_with_room(traced_gauges all) {
  all.resize(std::min(all.size(), trace_limits::actors));
  std::uint64_t workers = 0;
  const auto last = std::ranges::find_if(all, [&workers](const auto& gauge) {
    workers += gauge->workers();
    return workers > trace_limits::workers;
  });
  all.erase(last, all.end());
  return all;
}

/// The states that workers are in, before `now`.
std::vector<trace_span> states_of(const traced_gauges& gauges,
                                  std::int64_t now) {
  std::vector<trace_span> out;
  for (std::uint32_t actor = 0; actor < gauges.size(); ++actor) {
    std::uint32_t worker = 0;
    for (const auto& lane : gauges[actor]->lanes()) {
      if (lane.state != actor_state::stopped && lane.since <= now
          && out.size() < trace_limits::now)
        out.push_back({actor, worker, lane.state, lane.since, now,
                       unpack_batch(lane.batch)});
      ++worker;
    }
  }
  return out;
}

/// Leaves out states that were over by the time when the ring was read: it has
/// them, and what came after them.
void leave_out_ended(std::vector<trace_span>& now,
                     const std::vector<trace_span>& ended) {
  std::erase_if(now, [&ended](const trace_span& state) {
    return std::ranges::any_of(ended, [&state](const trace_span& span) {
      return span.actor == state.actor && span.worker == state.worker
             && (span.begin > state.begin
                 || (span.begin == state.begin && span.state == state.state));
    });
  });
}

} // namespace

std::int64_t trace_time() {
  return std::chrono::nanoseconds{
    std::chrono::steady_clock::now().time_since_epoch()}
    .count();
}

trace_reply trace_of(const gauge_board& board, std::uint64_t from,
                     std::size_t most) {
  trace_reply out;
  if (most == 0)
    return out;
  // Before the ring: a state that is over by then is in there.
  auto now = states_of(those_with_room(board.all()), trace_time());
  const auto page =
    board.spans().read(from, std::min(most, trace_limits::spans));
  // After it: whoever has left a span there is on the board by then.
  const auto gauges = those_with_room(board.all());
  for (const auto& gauge : gauges)
    out.actors.push_back({gauge->label().kind, gauge->label().part,
                          gauge->label().rank,
                          gauge->label().peer.substr(0, trace_limits::peer),
                          static_cast<std::uint32_t>(gauge->workers())});
  out.first = page.first;
  out.next = page.next;
  out.more = page.spans.size() == std::min(most, trace_limits::spans)
             && page.next < board.spans().written();
  for (const auto& span : page.spans) {
    if (span.gauge >= gauges.size())
      continue; // One of the actors for which there is no room.
    if (span.state == 0)
      out.requests.push_back({span.gauge, span.begin, span.end, span.bytes});
    else
      out.spans.push_back({span.gauge, span.worker,
                           static_cast<actor_state>(span.state), span.begin,
                           span.end, unpack_batch(span.batch)});
  }
  if (out.more)
    return out;
  leave_out_ended(now, out.spans);
  out.now = std::move(now);
  return out;
}

} // namespace graphmill
