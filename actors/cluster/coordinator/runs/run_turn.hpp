#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace graphmill {

/// The turn of a run, from when it leaves the queue until its results are
/// filed: what the cluster is doing for it, and whose answers are waited for.
///
///     deploying ---> conducting ---> ending ---> filing
///         |                            ^
///         '----------------------------'
///        failed, or cancelled before all had prepared
///
/// Whether the run has failed, was cancelled, or is to be attempted `again`, is
/// noted beside the state. It is attempted again if its definition wants that
/// and what ends it is the loss of a daemon or of a connection: then its
/// trainers are asked for no weights, but what they have is kept where it is.
/// So it is if an attempt has `paused` in order.
/// Whether it trains or saves its weights is not known here: while it is
/// conducted, the CONDUCTOR decides, and is told of what happens to the run.
///
/// The COORDINATOR calls it from its handlers, one member function per event,
/// and carries out the task that it gets back. An event that comes too late or
/// twice gives `task::none`. It sends nothing, and never goes back to an
/// earlier state: the turn of another run is another object.
class run_turn {
public:
  enum class state : std::uint8_t {
    deploying,  ///< Daemons prepare their shares.
    conducting, ///< It has a CONDUCTOR.
    ending,     ///< Daemons end their shares, and verify the data of them.
    filing,     ///< All have answered or are lost; its files are written.
  };

  /// What the caller is to do now.
  enum class task : std::uint8_t {
    none,
    conduct,        ///< All shares are there: begin.
    tell_conductor, ///< The CONDUCTOR decides: pass the event on to it.
    end_shares,     ///< Order all daemons to; then call `ordered_to_end`.
    hurry_shares,   ///< Order it again, now without a verification.
    file,           ///< Write the run's files, unless it is attempted again.
  };

  /// @param daemons Of the run; all of them owe an answer now.
  /// @param recovers Whether a loss makes it be attempted again.
  explicit run_turn(std::set<std::string> daemons = {}, bool recovers = false)
    : daemons_(std::move(daemons)), awaited_(daemons_), recovers_(recovers) {}

  // -- its way

  /// A daemon has prepared its share, or not.
  task deployed(const std::string& daemon, std::optional<error> why_not);

  /// The CONDUCTOR has ended.
  task conducted(std::optional<error> failure);

  /// The CONDUCTOR has ended an attempt in order, for the next one to go on
  /// with another number of trainers: that follows, unless the user has
  /// cancelled the run, whether it recovers from losses or not.
  /// @param reason Of the code `unavailable`.
  task paused(error reason);

  /// All daemons were told to end their shares.
  task ordered_to_end();

  /// A daemon has ended its share. @param failure Why the run is no success
  /// after all.
  task share_ended(const std::string& daemon, std::optional<error> failure);

  // -- what may come between

  /// The run cannot go on. What is no loss counts even if it comes after one:
  /// those that miss a rank may be heard before the rank, which knows why.
  task fail_run(error reason);

  /// What ends it from now on is followed by no other attempt.
  void end_for_good() { recovers_ = false; }

  /// There will be no other attempt: the run has failed.
  void give_up(error reason);

  /// The run cannot go on, as a daemon is gone. Nothing waits for it any more.
  task lose(const std::string& daemon, const error& reason);

  /// A daemon is gone, and the run goes on without it, for its data are known
  /// to be sound: nothing waits for it any more.
  task do_without(const std::string& daemon);

  /// By the user: at once while it is deployed, by the conductor later, and
  /// without a verification at the end. Too late once all shares have ended,
  /// unless another attempt was to follow.
  /// @param has_begun In an attempt before this one.
  task cancel(bool has_begun = false);

  // -- where it stands

  state now() const { return now_; }

  /// The outcome is known: what the run still tells does not count.
  bool is_over() const { return now_ >= state::ending; }
  bool cancelled() const { return cancelled_; }

  /// Whether another attempt is to follow.
  bool again() const { return again_; }

  /// Why it is no success, as far as is known here.
  const std::optional<error>& failure() const { return failure_; }

  /// Whether a daemon owes an answer.
  bool awaits(const std::string& daemon) const {
    return awaited_.contains(daemon);
  }

  /// Whether the run goes on without a daemon that it had.
  bool does_without(const std::string& daemon) const {
    return done_without_.contains(daemon);
  }

  /// Whether a daemon is gone, be the run able to go on or not.
  bool has_lost(const std::string& daemon) const {
    return does_without(daemon) || lost_.contains(daemon);
  }

private:
  bool is_recoverable(const error& reason) const;
  task end(std::optional<error> failure);
  task file_if_ended();

  std::set<std::string> daemons_;
  std::set<std::string> awaited_;      ///< Those that owe an answer.
  std::map<std::string, error> lost_;  ///< Those that will never give one.
  std::set<std::string> done_without_; ///< Those that need not give any.
  state now_ = state::deploying;
  std::optional<error> failure_;
  bool cancelled_ = false;
  bool recovers_ = false;
  bool again_ = false;
};

/// What is said of a daemon that did not say whether its data are sound.
error unverified(const std::string& daemon, const error& reason);

} // namespace graphmill
