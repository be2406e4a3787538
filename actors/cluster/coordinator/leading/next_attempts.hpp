#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/runs/attempt.hpp"
#include "messages/wire/cluster.hpp"
#include "pipelines/definition/placement.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace graphmill {

class run_places;
class run_queue;
class run_starter;

/// The way of a run from one attempt to the next: what daemons have kept of it
/// is fetched, it waits in the queue, and its folder goes back to where the
/// next attempt begins. Of the COORDINATOR's state, used in its handlers alone.
class next_attempts {
public:
  /// Tells what a run is to do now.
  using go_on_hook = std::function<void(const run_ptr&, attempt::task)>;

  next_attempts(const leading_parts& with, run_queue& queue,
                run_starter& starter, const run_places& places,
                go_on_hook go_on);

  /// A run has these seats from now on, and the history is to know it.
  void seat(submitted_run& run, placement where);

  /// An attempt has ended, and another one follows.
  void collect(const run_ptr& run);
  /// What there is has been collected: the run goes into the queue.
  void wait(const run_ptr& run);
  /// The next attempt has seats.
  void rewind(const run_ptr& run);

  /// Tells with how many trainers it is on, until its summary does.
  void report_sizes(submitted_run& run);

private:
  /// What the run's folder says where the next attempt begins.
  struct rewound_files {
    std::optional<training_state> from;
    /// Of a run that another coordinator has begun, else empty: who begins to
    /// watch it sees the epochs before, too.
    std::vector<run_news> before;
  };

  void pause(const run_ptr& run);
  void rewind_folder(const run_ptr& run);
  void rewound(const run_ptr& run, result<rewound_files> files);
  bool has_seats(const run_ptr& run);
  void report_begin(submitted_run& run);

  leading_parts with_;
  run_queue& queue_;
  run_starter& starter_;
  const run_places& places_;
  go_on_hook go_on_;
};

} // namespace graphmill
