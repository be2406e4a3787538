#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

inline constexpr float unknown_figure = std::numeric_limits<float>::quiet_NaN();

/// A daemon in one second; NaN is not known. There are many of these.
struct daemon_sample {
  float cores = unknown_figure; ///< Processors in use.
  float memory_bytes = unknown_figure;
  float received_per_second = unknown_figure; ///< Bytes.
  float sent_per_second = unknown_figure;
  float disk_read_per_second = unknown_figure;
  float disk_written_per_second = unknown_figure;
  daemon_state state = daemon_state::ready;
};
static_assert(sizeof(daemon_sample) == 28);

/// All workers of a kind in one second, over all daemons: shares of their time.
struct stage_sample {
  actor_kind kind = actor_kind::sampler;
  float busy = 0;
  float starved = 0;
  float stalled = 0;
  float waiting = 0;
};
static_assert(sizeof(stage_sample) == 20);

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
};

/// What a coordinator has seen of its daemons and runs in the last hour, a tick
/// for each second, numbered without gaps. Ticks are never changed, so that
/// whoever reads them holds nobody up. It takes 28 MiB at the most: a daemon
/// takes 28 bytes of a tick, a kind of actors 20, and a tick with its run some
/// 400 without these; each other run that is on adds as much. So 200 daemons
/// take 6 KiB in a second and 22 MiB in an hour, whatever number of actors they
/// have, and 256 daemons 27 MiB. Of more daemons it knows less than an hour.
/// Pure: it is told the time.
class health_history {
public:
  static constexpr std::size_t most_ticks = 3600;
  static constexpr std::chrono::hours longest{1};
  static constexpr std::size_t most_bytes = std::size_t{28} << 20;
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
  explicit health_history(std::uint64_t first = 0) : next_(first) {}

  /// Adds a tick, and forgets what is too old or too much.
  void take(const cluster_figures& now);

  std::uint64_t next() const { return next_; }

  /// The ticks from a number on, as many as have `most_rows` rows together, and
  /// one at least. A number that has not been given yet is of somebody else's
  /// history: then it begins with the oldest.
  page since(std::uint64_t seq, std::size_t most_rows) const;

  /// What it takes, about.
  std::size_t bytes() const { return bytes_; }
  std::size_t ticks() const { return ticks_.size(); }

private:
  struct place {
    tick what;
    std::size_t bytes = 0;       ///< Without names.
    std::size_t names_bytes = 0; ///< Of names that it is the first to have.
  };

  void drop_oldest();

  std::uint64_t next_;
  std::deque<place> ticks_;
  std::size_t bytes_ = 0;
};

} // namespace graphmill
