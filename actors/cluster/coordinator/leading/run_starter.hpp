#pragma once

#include "actors/base/missed_time.hpp"
#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/leading/run_places.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/runs/queue_pass.hpp"
#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace graphmill {

/// Which run of the queue begins, where and when. What the others wait for
/// stands in their records. Of the COORDINATOR's state, used in its handlers
/// alone.
class run_starter {
public:
  using clock = std::chrono::steady_clock;

  struct hooks {
    /// A run leaves the queue for an attempt.
    std::function<void(const run_ptr&, placement where)> begin;
    /// A run that waited for its next attempt has waited for too long.
    std::function<void(const run_ptr&, const error& reason)> give_up;
  };

  run_starter(const leading_parts& with, run_queue& queue,
              const run_places& places, hooks tell);

  /// Begins what can be carried out now. The others wait. What the queue leaves
  /// is for runs that are on (`grow`).
  void start();

  /// A run has failed. Daemons look at their data then: one whose data are
  /// damaged says so before the next run fails for it, too.
  void put_off();

  /// Runs wait for moments, too.
  void look(clock::time_point now);

  /// No run begins or grows any more.
  void close() { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }

  /// Has runs that are on pause at the next edge of an epoch if more trainers
  /// could be placed now. So it does not happen more than once in an epoch.
  void grow();

  /// The runs of which a daemon keeps what it has when a share of this one is
  /// deployed there: those that are on or wait for their next attempt.
  std::vector<std::string> names_beside(const submitted_run& run) const;

private:
  queue_pass pass() const;
  bool start_feed();
  std::size_t trained_at_once() const;
  void start_queue();
  bool begin_next(queue_pass& pass, const run_ptr& run);
  bool awaits_daemons(submitted_run& run);
  bool awaits_trainers(submitted_run& run, const placement& where);
  void wait_on(submitted_run& run, const error& reason, bool held_up = false);
  void wait_for_place();
  definition wanted_of(const submitted_run& run) const;
  error without_place() const;
  bool is_due(clock::time_point now);
  void give_up_waiting(clock::time_point now);
  bool may_grow_beside_queue() const;

  leading_parts with_;
  run_queue& queue_;
  const run_places& places_;
  hooks tell_;
  bool is_closed_ = false;
  clock::time_point start_at_{}; ///< No run before.
  missed_time missed_;           ///< Between two looks at the time.
};

} // namespace graphmill
