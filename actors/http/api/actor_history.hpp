#pragma once

#include "actors/http/metrics/metrics_board.hpp"
#include "messages/wire/health.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// Which actor of a run.
struct actor_place {
  std::string daemon;
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
  std::uint16_t queue = 0; ///< The longest; that, or more, if it is the most.
};
static_assert(sizeof(actor_sample) == 8);

/// The actors of a run in some seconds. It is never changed.
struct actor_period {
  std::string run;
  unix_time begin{0};
  /// Periods share the actors as long as they stay the same.
  std::shared_ptr<const std::vector<actor_place>> actors;
  std::vector<actor_sample> samples; ///< In the order of `actors`.
};

/// Makes periods of what daemons tell once a second of the actors of runs that
/// are on. Used by one thread at a time. Pure: it is told the time.
class actor_periods {
public:
  using period = std::shared_ptr<const actor_period>;

  static constexpr std::chrono::seconds length{10};
  /// Of a run, as many as 256 daemons may tell of; others are passed over.
  static constexpr std::size_t most_actors = std::size_t{1} << 16;

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
  struct gathered {
    unix_time begin{0};
    std::shared_ptr<const std::vector<actor_place>> before; ///< May be null.
    std::vector<actor_place> places;
    std::vector<sums> of; ///< In the order of `places`.

    void add(const run_health& run);
    period finish(const std::string& run);
  };

  std::map<std::string, gathered> runs_; ///< That are on, by id.
};

/// How the actors of runs were in the last hour, in periods of 10 s. It takes
/// 32 MiB at the most, which is an hour of 10,000 actors: 8 bytes for each of
/// them in a period, and their names for as long as they stay the same. Of more
/// actors it knows less than an hour.
class actor_history {
public:
  using period = actor_periods::period;

  static constexpr std::chrono::hours longest{1};
  static constexpr std::size_t most_bytes = std::size_t{32} << 20;

  /// Adds periods, and forgets what is too old or too much.
  void add(const std::vector<period>& periods);

  /// Those of a run, the oldest first.
  std::vector<period> of(const std::string& run) const;

  /// What it takes, about.
  std::size_t bytes() const { return bytes_; }

private:
  struct place {
    period what;
    std::size_t bytes = 0;
  };

  std::deque<place> periods_;
  std::size_t bytes_ = 0;
  /// Whose lists of names are counted, and by how many periods they are shared.
  std::map<const void*, std::size_t> sharers_;

  std::size_t bytes_of_names(const actor_period& of) const;
  void drop_oldest();
};

} // namespace graphmill
