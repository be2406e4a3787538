#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <cstddef>

namespace graphmill {

struct step_result;

/// The CONDUCTOR of an attempt, as the objects of the COORDINATOR see it. It is
/// told to end when this goes.
class run_conductor {
public:
  virtual ~run_conductor() = default;

  /// The run cannot go on.
  virtual void fail_run(error reason) = 0;
  /// @param member By its place among the daemons with trainers.
  virtual void lose_member(std::size_t member, const error& reason) = 0;
  /// @param now Without the rest of the epoch.
  virtual void cancel(bool now) = 0;
  /// At the next edge of an epoch.
  virtual void pause() = 0;
  /// A trainer tells of its part of a step.
  virtual void take(step_result step) = 0;
  /// A trainer has stopped.
  virtual void stopped(rank_id rank) = 0;
};

} // namespace graphmill
