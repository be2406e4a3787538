#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/leading/next_attempts.hpp"
#include "actors/cluster/coordinator/leading/run_shares.hpp"
#include "actors/cluster/coordinator/runs/attempt.hpp"
#include "actors/run/run_observer.hpp"
#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/run.hpp"
#include "pipelines/definition/placement.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace graphmill {

/// Leads runs through their attempts: passes what happens on to the ATTEMPT of
/// a run, and carries out the task that it gives back. Of the COORDINATOR's
/// state, used in its handlers alone.
class run_leader {
public:
  using clock = std::chrono::steady_clock;

  struct hooks {
    std::function<void(submitted_run&)> conduct; ///< Spawn its conductor.
    std::function<void()> filed;                 ///< A run is over.
    /// A feed is over, for this reason if it is no success.
    std::function<void(const std::string& run, const std::optional<error>&)>
      fed;
  };

  run_leader(const leading_parts& with, run_queue& queue, run_starter& starter,
             const run_places& places, hooks tell);

  // -- its way

  /// A run has left the queue.
  void begin(const run_ptr& run, placement where);

  /// The history knows of all attempts that have left the queue: another
  /// coordinator never gives their numbers to attempts that daemons know.
  void recorded();

  /// A conductor has come to the end of its course.
  void conducted(const std::string& id, std::uint32_t attempt,
                 run_outcome outcome);
  /// A conductor is not there any more.
  void conductor_ended(const std::string& id, std::uint32_t attempt,
                       const error& reason);

  /// A run of the queue gives up waiting for its next attempt.
  void give_up(const run_ptr& run, const error& reason);

  // -- what daemons tell

  result<payload> take_events(const incoming_request& request);
  void rendezvous(const incoming_request& request);
  void look(clock::time_point now);

  /// A daemon registers again.
  void check_shares(const peer_identity& identity) { shares_.check(identity); }
  /// A daemon is lost to all runs that use it.
  void lose(const std::string& daemon, const error& reason);
  /// A daemon wants to leave. It is answered once no run needs it.
  void leave(const incoming_request& request);

  /// A daemon begins another feed, and wants those before it no more.
  void end_feeds_of(const std::string& consumer);

  // -- what users want

  /// @returns false if the run is neither in the queue nor on.
  bool cancel(const std::string& id, bool now);
  /// Ends all runs that are on as a user would.
  void cancel_all();

  // -- trouble

  /// A handler has thrown, which may have been about any run.
  /// @returns whether one has to end for that.
  bool crashed(const error& thrown);
  /// Another coordinator leads the runs.
  void let_go();

private:
  void go_on(const run_ptr& run, attempt::task next);
  void carry_out(const run_ptr& run, attempt::task next);
  void finish_task(const run_ptr& run);
  void deploy(const run_ptr& run);
  void end(const run_ptr& run);
  void file(const run_ptr& run);
  void filed(const run_ptr& run, run_record with);
  void lose(const run_ptr& run, const std::string& daemon, const error& reason);
  bool go_on_without(const run_ptr& run, const std::string& daemon,
                     const error& reason);
  void drop_feeds_of(const std::string& consumer);
  void leave_feed(const run_ptr& run);
  void cancel(const run_ptr& run, bool now);
  void conclude(const run_ptr& run, attempt::task next);
  void drop(submitted_run& run);

  leading_parts with_;
  run_queue& queue_;
  run_starter& starter_;
  hooks tell_;
  run_shares shares_;
  next_attempts next_;
};

} // namespace graphmill
