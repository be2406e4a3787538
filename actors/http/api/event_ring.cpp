#include "actors/http/api/event_ring.hpp"

#include "messages/base/printable.hpp"

#include <algorithm>
#include <iterator>
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

void event_ring::add(cluster_event event) {
  for (auto* text : {&event.who, &event.run, &event.text})
    if (text->size() > most_bytes)
      *text = shortened(*text, most_bytes);
  event.seq = next_++;
  events_.push_back(std::move(event));
  if (events_.size() > most)
    events_.pop_front();
}

event_ring::page event_ring::since(std::uint64_t seq) const {
  const auto oldest = next_ - events_.size();
  const auto known = seq > next_ ? 0 : std::max(seq, oldest) - oldest;
  return {next_,
          {std::next(events_.begin(), std::ptrdiff_t(known)), events_.end()}};
}

} // namespace graphmill
