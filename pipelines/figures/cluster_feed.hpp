#pragma once

#include "messages/wire/cluster.hpp"
#include "pipelines/figures/actor_periods.hpp"
#include "pipelines/figures/cluster_history.hpp"
#include "pipelines/figures/event_ring.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a coordinator leaves for those who watch its cluster over HTTP, beside
/// the figures of the moment: its history, its events, and what has become of
/// its runs. The coordinator and its threads write, the HTTP server reads, and
/// neither waits for the other for longer than it takes to copy pointers to an
/// hour of ticks, or 2,000 events. Thread-safe.
class cluster_feed {
public:
  /// Runs that it knows, of which a hundred may wait, and the longest summary
  /// of each.
  static constexpr std::size_t most_runs = 256;
  static constexpr std::size_t most_summary_bytes = 16 * 1024;

  using event_sink = std::function<void(const cluster_event&)>;

  /// Numbers begin here: above all that a coordinator before has given. Before
  /// anything else.
  /// @param before Events that it has numbered, ascending.
  /// @param keep Gets each event from now on, in their order, and is not to
  /// wait; may be null.
  void begin(std::uint64_t first, std::vector<cluster_event> before = {},
             event_sink keep = {});

  /// How the cluster is, once a second. By one thread at a time.
  void sample(const cluster_figures& now);

  /// Something has happened. Its number is given here.
  void tell(cluster_event event);

  /// A run stands like this: an event, if its state has changed.
  void note(const run_record& run, unix_time now);
  /// Runs of former times, the latest first: these are no events.
  void recall(const runs_reply& known);

  cluster_history::page history(std::uint64_t since,
                                std::size_t most_rows) const;
  event_ring::page events(std::uint64_t since) const;
  /// How the actors of a run were, the oldest period first.
  std::vector<actor_periods::period> actors(const std::string& run) const;

  /// Where both stand now.
  struct position {
    std::uint64_t history = 0;
    std::uint64_t events = 0;

    friend bool operator==(const position&, const position&) = default;
  };
  position now() const;

  /// What has become of a run; nothing if it is not known. Its summary is
  /// brief.
  std::optional<run_record> run(const std::string& id) const;

  /// The latest runs, the last one first, and whether there were others.
  runs_reply runs(std::size_t most) const;

private:
  /// @pre the mutex is held
  void add(cluster_event event);
  /// @returns its state before, if it was known.
  std::optional<run_state> put(run_record run);

  actor_periods periods_; ///< Of `sample` alone.
  mutable std::mutex mutex_;
  cluster_history history_;
  event_ring events_;
  event_sink keep_;
  std::deque<run_record> runs_; ///< The oldest first.
  bool more_ = false;           ///< There were older ones.
};

} // namespace graphmill
