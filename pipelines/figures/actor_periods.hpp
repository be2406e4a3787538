#pragma once

#include "messages/wire/health.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// Which actor of a run at a daemon.
struct actor_place {
  actor_kind kind = actor_kind::sampler;
  std::int32_t part = -1;
  std::int32_t rank = -1;
  std::string peer;

  friend auto operator<=>(const actor_place&, const actor_place&) = default;
};

/// An actor in some seconds: shares of its workers' time, in parts of `whole`.
/// There are very many of these.
struct actor_sample {
  static constexpr std::uint8_t whole = 250;

  std::uint8_t busy = 0;
  std::uint8_t starved = 0;
  std::uint8_t stalled = 0;
  std::uint8_t waiting = 0;
  std::uint8_t down = 0;
  actor_state state = actor_state::starting; ///< As it was told last.
  std::uint16_t queue = 0; ///< The longest; if it is the most, that or more.
};
static_assert(sizeof(actor_sample) == 8);

/// The actors of a run in some seconds. It is never changed.
struct actor_period {
  struct share {
    std::string daemon;
    /// Periods share the places as long as they stay the same.
    std::shared_ptr<const std::vector<actor_place>> actors;
    std::vector<actor_sample> samples; ///< In the order of `actors`.
  };

  std::string run;
  unix_time begin{0};
  unix_time end{0};
  std::vector<share> shares; ///< By daemon.

  /// Null: the daemon told nothing.
  const share* of(const std::string& daemon) const;
};

/// Makes periods of what daemons tell once a second of the actors of runs that
/// are on. A period has the actors that at least half of its seconds' reports
/// told of: of a daemon that hung for most of it there is none. It holds what
/// has been told in the periods that are on: for 10,000 actors some 2 MiB. Used
/// by one thread at a time. Pure: it is told the time.
class actor_periods {
public:
  using period = std::shared_ptr<const actor_period>;

  static constexpr std::chrono::seconds length{10};
  /// Reports that are older than this, in seconds, say nothing of the second:
  /// daemons tell once in each.
  static constexpr double oldest_report = 2;
  /// Of a daemon in a period, a report's and the conductor; more, as of one
  /// that tells of others each second, are passed over.
  static constexpr std::size_t most_actors = health_limits::actors + 1;

  /// @returns the periods that are over by now.
  std::vector<period> take(const cluster_figures& now);

private:
  /// What has been told of an actor in the period so far.
  struct sums {
    double busy = 0;
    double starved = 0;
    double stalled = 0;
    double waiting = 0;
    double down = 0;
    std::uint64_t queue = 0;
    std::uint32_t reports = 0;
    actor_state state = actor_state::starting;

    void add(const actor_health& actor);
    actor_sample sample() const;
  };
  struct told {
    std::vector<actor_place> places;
    std::vector<sums> of; ///< In the order of `places`.
    std::shared_ptr<const std::vector<actor_place>> before; ///< May be null.

    void add(const std::vector<actor_health>& actors);
    std::size_t place_of(const actor_health& actor, std::size_t expected);
    actor_period::share finish(const std::string& daemon,
                               std::uint32_t seconds);
  };
  struct gathered {
    unix_time begin{0};
    std::uint32_t seconds = 0;          ///< In which reports may have come.
    std::map<std::string, told> shares; ///< By daemon.

    period finish(const std::string& run, unix_time end);
  };

  std::map<std::string, gathered> runs_; ///< That are on, by id.
};

} // namespace graphmill
