#include "pipelines/figures/event_ring.hpp"

#include "messages/base/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

std::string_view to_string(event_kind kind) {
  switch (kind) {
  case event_kind::joined:
    return "joined";
  case event_kind::left:
    return "left";
  case event_kind::lost:
    return "lost";
  case event_kind::back:
    return "back";
  case event_kind::draining:
    return "draining";
  case event_kind::in_service:
    return "in_service";
  case event_kind::queued:
    return "queued";
  case event_kind::started:
    return "started";
  case event_kind::ended:
    return "ended";
  case event_kind::recovered:
    return "recovered";
  case event_kind::checkpoint:
    return "checkpoint";
  case event_kind::limit:
    return "limit";
  case event_kind::trouble:
    return "trouble";
  case event_kind::warning:
    break;
  }
  return "warning";
}

std::optional<event_kind> event_kind_of(std::string_view word) {
  for (auto number = 0; number <= int(event_kind::warning); ++number)
    if (const auto kind = event_kind(number); to_string(kind) == word)
      return kind;
  return std::nullopt;
}

nlohmann::json event_json(const cluster_event& event) {
  return {{"seq", event.seq},
          {"time", double(event.time.count()) / 1000},
          {"kind", to_string(event.kind)},
          {"who", event.who},
          {"run", event.run},
          {"text", event.text}};
}

event_ring::event_ring(std::uint64_t first, std::vector<cluster_event> before)
  : next_(first) {
  for (auto& event : before)
    keep(std::move(event));
}

const cluster_event& event_ring::add(cluster_event event) {
  event.seq = next_++;
  keep(std::move(event));
  return events_.back();
}

void event_ring::keep(cluster_event event) {
  for (auto* text : {&event.who, &event.run, &event.text})
    if (text->size() > most_bytes)
      *text = shortened(*text, most_bytes);
  events_.push_back(std::move(event));
  if (events_.size() > most)
    events_.pop_front();
}

event_ring::page event_ring::since(std::uint64_t seq) const {
  const auto from = seq > next_ ? events_.begin()
                                : std::ranges::lower_bound(events_, seq, {},
                                                           &cluster_event::seq);
  return {next_, {from, events_.end()}};
}

} // namespace graphmill
