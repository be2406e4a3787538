#pragma once

#include "messages/wire/health.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace graphmill {

/// What an actor did between two readings of its gauge.
actor_health health_between(const actor_gauge& gauge,
                            const gauge_reading& before,
                            const gauge_reading& now);

/// What the requests of these actors tell of the daemons that they ask, by
/// name. @param sent_per_second By each of them, bytes.
std::vector<peer_health>
peers_of(const std::vector<std::shared_ptr<const actor_gauge>>& gauges,
         const std::vector<actor_health>& actors,
         const std::vector<double>& sent_per_second);

/// Turns the gauges of a run into health, over a window of the last readings.
/// For one caller at a time, who asks about once a second.
class health_sampler {
public:
  using clock = std::chrono::steady_clock;

  /// Readings that a window spans.
  static constexpr std::size_t span = 5;

  /// Forgets the gauges of other boards, as that of an earlier attempt, reads
  /// all of this one, and fills in `actors`, `peers`, `window` and `left_out`
  /// of what a daemon tells. The first reading has a window since the actors
  /// were spawned. Of more actors than a report may have, the stages and
  /// trainers come first, then those in trouble, and then those that others
  /// have waited for longest.
  void sample(const gauge_board& board, clock::time_point now,
              daemon_health& into);

private:
  using gauge = std::shared_ptr<const actor_gauge>;
  /// The oldest first, `span` at the most.
  std::map<gauge, std::deque<gauge_reading>> readings_;
};

} // namespace graphmill
