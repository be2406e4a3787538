#pragma once

#include "actors/cluster/coordinator/runs/run_ptr.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace graphmill {

/// The queue of a cluster: runs that wait for their next attempt, then those
/// that wait for their first one, each in the order of submission. Pure.
class run_queue {
public:
  using clock = std::chrono::steady_clock;

  const std::deque<run_ptr>& all() const { return runs_; }

  /// The place of a run that is submitted now.
  std::int64_t next_place() { return next_place_++; }

  /// Adds a run behind all others.
  void add(run_ptr run);

  /// Adds a run that waits for its next attempt. Its place may change.
  void put_back(run_ptr run);

  /// Takes a run out; null: it is not there.
  run_ptr take(const std::string& id);

  /// Takes all out.
  void clear() { runs_.clear(); }

  /// Runs that were submitted from a host.
  std::size_t count_of(const std::string& home) const;

  /// Whether a run other than this one waits for its next attempt.
  bool has_waiting_beside(const submitted_run& run) const;

  /// Nobody waits any more for a daemon to return to this coordinator.
  void daemon_returned(const std::string& daemon);

  /// Daemons could not be heard for so long: whoever waits for them goes on
  /// with that for as much longer.
  void put_off(clock::duration missed);

private:
  std::deque<run_ptr> runs_;
  std::int64_t next_place_ = 0;
};

} // namespace graphmill
