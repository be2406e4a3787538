#pragma once

#include "messages/wire/trace.hpp"
#include "pipelines/health/clock_offset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// What the actors of one daemon did in a run, put together from its answers.
/// A value.
struct daemon_trace {
  std::string name;
  clock_offset clock; ///< Towards that of the run's coordinator.
  std::vector<trace_actor> actors;
  std::vector<trace_span> spans; ///< By its own clock.
  std::vector<trace_call> requests;
  std::vector<trace_span> now; ///< What is not over, of the last answer.
  std::uint64_t next = 0;      ///< To be asked for.
  std::uint64_t before = 0;    ///< Overwritten, before all that is known.
  std::uint64_t lost = 0;      ///< Overwritten, before they were asked for.
  bool over = false;
  std::uint32_t attempt = 0; ///< Of the run; 0: nothing is known yet.

  /// Adds an answer to a request from `next` on. One of another attempt at the
  /// run is asked for again, from its begin: what was known is forgotten.
  void take(trace_reply page);
  std::size_t size() const { return spans.size() + requests.size(); }
};

/// The same of a run. Times are those of daemons' clocks until `align`.
struct run_trace {
  std::string run;
  std::vector<daemon_trace> daemons;
  std::vector<std::string> missing; ///< Daemons that could not be asked.

  /// Puts all times on the coordinator's clock, and what is not over among the
  /// rest.
  void align();
};

/// How many training steps are over of which there are spans of trainers: their
/// gradients have been added up, or a loop has had their batches.
std::size_t steps_in(const run_trace& trace);

/// What follows is of traces that are aligned. What was overwritten before the
/// time that is left does not count; if it may lie within, it is `lost`.

/// Leaves the last `nanoseconds` before the last span's end. Daemons are asked
/// one after the other: while the run is on at some of them, time ends with
/// what the first of these has told. What lies across begin or end is cut.
void keep_last(run_trace& trace, std::int64_t nanoseconds);

/// Leaves `steps` of the training steps that are over, from the `first` of them
/// on, counted from 0: the time from when anybody began with one of their
/// batches until the last trainer was done.
void keep_steps(run_trace& trace, std::size_t first, std::size_t steps);

} // namespace graphmill
