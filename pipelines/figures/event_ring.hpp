#pragma once

#include "messages/wire/cluster.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// What can happen in a cluster that its watchers are told of.
enum class event_kind : std::uint8_t {
  joined,
  left,
  lost,
  back,
  draining,
  in_service,
  queued,
  started,
  ended,
  recovered,
  checkpoint,
  limit,
  trouble,
  warning,
};
std::string_view to_string(event_kind kind);
/// And back; nothing for any other word.
std::optional<event_kind> event_kind_of(std::string_view word);

/// Something that has happened.
struct cluster_event {
  std::uint64_t seq = 0; ///< Of the ring.
  unix_time time{0};
  event_kind kind = event_kind::warning;
  std::string who{}; ///< A daemon; empty: none.
  std::string run{}; ///< Empty: none.
  std::string text{};
};

/// The line of `events.jsonl`, and the row of /api/events. Times in seconds
/// since 1970.
nlohmann::json event_json(const cluster_event& event);

/// The last events of a cluster, numbered in their order. With their texts they
/// take 2 MiB at the most. Pure: its owner tells it the time.
class event_ring {
public:
  static constexpr std::size_t most = 2000;
  /// Of a text, and of a name.
  static constexpr std::size_t most_bytes = 256;

  struct page {
    std::uint64_t next = 0; ///< Number of the next event.
    std::vector<cluster_event> events;
  };

  /// @param first Number of the first event that is added.
  /// @param before Events with lower numbers, ascending: those that a ring
  /// before this one had numbered.
  explicit event_ring(std::uint64_t first = 0,
                      std::vector<cluster_event> before = {});

  /// Numbers the event. The oldest one makes room, and what is too long is cut.
  /// @returns it, until the next call.
  const cluster_event& add(cluster_event event);

  std::uint64_t next() const { return next_; }

  /// The events from a number on. A number that has not been given yet is of
  /// somebody else's ring: then it is all of them.
  page since(std::uint64_t seq) const;

private:
  void keep(cluster_event event);

  std::uint64_t next_;
  std::deque<cluster_event> events_; ///< Of ascending numbers.
};

} // namespace graphmill
