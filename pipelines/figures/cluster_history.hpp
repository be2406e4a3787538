#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "pipelines/figures/actor_periods.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// A daemon in one second. There are many of these.
struct daemon_sample {
  /// The fields of `figures::load`; NaN is not known.
  std::array<float, fields_in(figures::load)> figures;
  daemon_state state = daemon_state::ready;
};

/// All workers of a kind in one second, over all daemons.
struct stage_sample {
  actor_kind kind = actor_kind::sampler;
  /// The fields of `figures::actor`: shares of their time.
  std::array<float, fields_in(figures::actor)> shares{};
};

/// A run that is on in one second.
struct run_sample {
  std::string run;
  std::optional<run_progress> progress; ///< Nothing before the first step.
  std::vector<stage_sample> stages;     ///< By kind.
};

/// A cluster in one second.
struct history_tick {
  std::uint64_t seq = 0;
  unix_time time{0};
  /// By name. Ticks share the names as long as they stay the same.
  std::shared_ptr<const std::vector<std::string>> daemons;
  std::vector<daemon_sample> rows; ///< In the order of `daemons`.
  std::vector<run_sample> runs;    ///< Those that are on.
  /// Of the actors of runs, those that are over by now.
  std::vector<actor_periods::period> periods;
};

/// What a coordinator has seen of its daemons and runs in the last hour, a tick
/// for each second, and single actors in periods of some 10 s. Ticks are never
/// changed, so that whoever reads them holds nobody up. Its memory is enough
/// for an hour of 256 daemons, of which 200 have 50 actors each: a daemon takes
/// a `daemon_sample` of a tick, a kind of actors a `stage_sample`, a run some
/// 400 bytes, an actor an `actor_sample` of a period and its daemon some 100
/// bytes. Names are shared by ticks as long as they stay the same. Of more, or
/// of other names each time, it knows less than an hour. What is of times that
/// are yet to come, as after a clock was set back, is forgotten. Pure: it is
/// told the time.
class cluster_history {
public:
  static constexpr std::size_t most_ticks = 3600;
  static constexpr std::chrono::hours longest{1};
  static constexpr std::size_t most_bytes =
    256 * most_ticks * sizeof(daemon_sample) + (std::size_t{44} << 20);
  /// Figures that come sooner after the ones before are passed over.
  static constexpr std::chrono::milliseconds shortest_pause{500};
  /// Reports that are older than this say nothing of the second.
  static constexpr double oldest_report = 5; ///< Seconds.

  using tick = std::shared_ptr<const history_tick>;
  struct page {
    std::uint64_t next = 0; ///< Number of the tick after these.
    bool more = false;      ///< Which there is already.
    unix_time now{0};       ///< Of the last tick that there is; 0: none.
    std::vector<tick> ticks;
  };

  /// @param first Number of the first tick.
  explicit cluster_history(std::uint64_t first = 0) : next_(first) {}

  /// Adds a tick, and forgets what is too old or too much.
  /// @param periods That are over by now.
  void take(const cluster_figures& now,
            const std::vector<actor_periods::period>& periods = {});

  std::uint64_t next() const { return next_; }

  /// The ticks from a number on, as many as have `most_rows` rows together, and
  /// one at least. A number that has not been given yet is of somebody else's
  /// history: then it begins with the oldest.
  page since(std::uint64_t seq, std::size_t most_rows) const;

  /// How the actors of a run were, the oldest period first.
  std::vector<actor_periods::period> actors(const std::string& run) const;

  /// What it takes, about.
  std::size_t bytes() const { return bytes_; }
  std::size_t ticks() const { return ticks_.size(); }

private:
  void add(tick made);
  /// Takes a tick that is about to go off the bill.
  void forget(const history_tick& gone);

  std::uint64_t next_;
  std::deque<tick> ticks_; ///< Of ascending numbers and times.
  std::size_t bytes_ = 0;
  /// How many ticks share a list of names, which is on the bill once.
  std::map<const void*, std::size_t> sharers_;
  std::vector<actor_periods::period> waiting_; ///< For a tick.
};

} // namespace graphmill
