#include "pipelines/figures/event_ring.hpp"

#include "messages/base/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace graphmill {

namespace {

/// In the order of `event_kind`.
constexpr std::string_view event_words[] = {
  "joined",     "left",   "lost",    "back",   "draining",
  "in_service", "queued", "started", "ended",  "recovered",
  "checkpoint", "limit",  "trouble", "warning"};

} // namespace

std::string_view to_string(event_kind kind) {
  return event_words[static_cast<std::size_t>(kind)];
}

std::optional<event_kind> event_kind_of(std::string_view word) {
  const auto found = std::ranges::find(event_words, word);
  if (found == std::end(event_words))
    return std::nullopt;
  return static_cast<event_kind>(found - std::begin(event_words));
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
