#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/definition/placement.hpp"

#include <cstddef>
#include <vector>

namespace graphmill {

/// One look at the queue of a cluster, from its first run to its last: which
/// slots are left for each, beside runs that are on and those that come first.
/// A run that finds no room now keeps its turn: no run that has not begun gets
/// a slot behind it on a daemon that it may train on, or it might wait for ever
/// for several slots that are never free together. Runs that are to use other
/// daemons go past it, and so do those that were on: whatever they took before
/// was theirs. Pure.
class queue_pass {
public:
  /// @param offers Of the daemons in service. @param most Runs at a time.
  queue_pass(std::vector<daemon_offer> offers, part_id parts, std::size_t most);

  /// A run that is on, with the slots that it takes. Before the queue is looked
  /// at.
  void add(const placement& where);

  /// A run of the queue that was on, and waits for its next attempt: it has a
  /// place among those that are on.
  void add_waiting() { ++on_; }

  /// Whether as many are on as may be.
  bool is_full() const { return on_ >= most_; }

  /// Where the next run of the queue goes with what is left.
  /// @param was_on It waits for its next attempt.
  result<placement> place(const definition& def, bool was_on = false) const;

  /// Whether it has to wait for slots alone: on an empty cluster it would find
  /// room.
  bool waits_for_slots(const definition& def, bool was_on = false) const;

  /// It waits, and what it may train on is kept for it.
  void keep_turn(const definition& def);

private:
  std::vector<daemon_offer> offers_; ///< All of their slots.
  std::vector<daemon_offer> free_;   ///< The same with what is left of them.
  std::vector<daemon_offer> open_;   ///< Of these, for who has not begun.
  part_id parts_;
  std::size_t most_;
  std::size_t on_ = 0;
};

/// The offers with the slots that a run does not take.
void take_slots(std::vector<daemon_offer>& offers, const placement& where);

} // namespace graphmill
