#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace graphmill {

/// The life of a run on a cluster, from its submission until its results are
/// filed. A run is carried out in attempts, one after the other.
///
/// | state       | event               | next state, and task                 |
/// |-------------|---------------------|--------------------------------------|
/// | queued      | place               | recording                            |
/// |             | cancel              | over: drop                           |
/// | waiting     | place               | recording                            |
/// |             | cancel, give_up     | filing: file                         |
/// | recording   | recorded            | first attempt: deploying: deploy;    |
/// |             |                     | a later one: rewinding: rewind       |
/// | rewinding   | rewound             | deploying: deploy                    |
/// | deploying   | deployed, do_without| by the last one: conducting: conduct |
/// | these three | fail_run, lose,     | ending: end_shares                   |
/// |             | cancel              |                                      |
/// | deploying   | deployed, an error  | ending: end_shares                   |
/// | conducting  | fail_run, lose      | next attempt follows: ending:        |
/// |             |                     | end_shares; else: tell_conductor     |
/// |             | cancel              | tell_conductor                       |
/// |             | conducted, paused,  | ending: end_shares                   |
/// |             | conductor_ended     |                                      |
/// | ending      | share_ended, lose,  | by the last one, with a conductor:   |
/// |             | do_without,         | closing: await_conductor; without:   |
/// |             | ordered_to_end      | as conductor_ended in closing        |
/// |             | share_ended, lose   | the first failure, a loss, and       |
/// |             |                     | others owe an answer: hurry_shares   |
/// |             | fail_run            | no loss: no next attempt follows     |
/// |             | cancel              | a success so far: hurry_shares       |
/// | closing     | conductor_ended     | next attempt follows: collecting:    |
/// |             |                     | collect; else: filing: file          |
/// | collecting  | collected           | waiting: wait; after a cancellation: |
/// |             |                     | filing: file                         |
/// |             | give_up             | filing: file                         |
/// | ending,     | cancel              | no next attempt follows              |
/// | closing,    |                     |                                      |
/// | collecting  |                     |                                      |
/// | filing      | filed               | over                                 |
///
/// Another attempt follows (`again`) if the definition wants that and what ends
/// this one is the loss of a daemon or a connection, or if it has paused. An
/// event that comes too late, or twice, gives `task::none`.
///
/// The COORDINATOR calls it from its handlers, one member function per event,
/// and carries out the task that it gets back. It sends nothing.
class attempt {
public:
  enum class state : std::uint8_t {
    queued,     ///< It waits for its first attempt.
    waiting,    ///< It waits for its next attempt.
    recording,  ///< It has daemons, which the history has yet to know.
    rewinding,  ///< Its state is looked for, and its folder goes back to that.
    deploying,  ///< Daemons prepare their shares.
    conducting, ///< It has a CONDUCTOR.
    ending,     ///< Daemons end their shares, and verify the data of them.
    closing,    ///< All have answered or are lost. Its CONDUCTOR ends.
    collecting, ///< What daemons have kept is fetched, for the next attempt.
    filing,     ///< Its files are written.
    over,
  };

  /// What the caller is to do now.
  enum class task : std::uint8_t {
    none,
    drop,            ///< It has never begun: only its record is written.
    deploy,          ///< Open its folder, if need be, and deploy its shares.
    rewind,          ///< Look for its state, then call `rewound`.
    conduct,         ///< All shares are there: begin, then call `led`.
    tell_conductor,  ///< The CONDUCTOR decides: pass the event on to it.
    end_shares,      ///< Order all daemons to; then call `ordered_to_end`.
    hurry_shares,    ///< Order it again, now without a verification.
    await_conductor, ///< Nobody else uses the run any more.
    collect,         ///< Fetch what daemons have kept, then `collected`.
    wait,            ///< Put the run back into the queue.
    file,            ///< Write the run's files, then call `filed`.
  };

  /// @param begin `queued`, or `waiting` for a run that another coordinator had
  /// on.
  explicit attempt(state begin = state::queued) : now_(begin) {}

  // -- its way

  /// It leaves the queue. @param daemons All of them owe an answer from now on.
  /// @param recovers Whether another attempt follows a loss.
  /// @param is_first Whether it has not begun before.
  void place(std::set<std::string> daemons, bool recovers, bool is_first);

  /// The history knows of the attempt.
  task recorded();

  /// Its next attempt takes other daemons after all. @pre rewinding
  void seat(std::set<std::string> daemons);
  task rewound();

  /// A daemon has prepared its share, or not.
  task deployed(const std::string& daemon, std::optional<error> why_not);

  /// The CONDUCTOR is there.
  void led() { is_led_ = true; }
  /// It was told to pause, which happens once in an attempt.
  void told_to_pause() { was_told_to_pause_ = true; }

  /// The CONDUCTOR has come to the end of its course.
  task conducted(std::optional<error> failure);

  /// The CONDUCTOR has ended the attempt in order, for the next one to go on
  /// with another number of trainers. That follows, unless the user has
  /// cancelled the run, whether it recovers from losses or not.
  /// @param reason Of the code `unavailable`.
  task paused(error reason);

  /// The CONDUCTOR is not there any more, unasked or as it was told.
  task conductor_ended(const error& reason);

  /// All daemons were told to end their shares.
  task ordered_to_end();

  /// A daemon has ended its share. @param failure Why the run is no success
  /// after all.
  task share_ended(const std::string& daemon, std::optional<error> failure);

  /// What daemons had kept has been fetched, or the search was broken off.
  task collected();

  /// No other attempt follows: the run has failed. @pre waiting or collecting
  task give_up(error reason);

  void filed() {
    if (now_ == state::filing)
      now_ = state::over;
  }

  // -- what may come between

  /// The run cannot go on. What is no loss counts even if it comes after one:
  /// those that miss a rank may be heard before the rank, which knows why.
  task fail_run(error reason);

  /// What ends it from now on is followed by no other attempt.
  void end_for_good() { recovers_ = false; }

  /// The run cannot go on, as a daemon is gone. Nothing waits for it any more.
  task lose(const std::string& daemon, const error& reason);

  /// A daemon is gone, and the run goes on without it, for its data are known
  /// to be sound: nothing waits for it any more.
  task do_without(const std::string& daemon);

  /// By the user: at once before it is conducted, by the conductor later, and
  /// without a verification at the end. Too late once all shares have ended,
  /// unless another attempt was to follow.
  task cancel();

  // -- where it stands

  state now() const { return now_; }

  /// Its daemons have or prepare shares of it.
  bool has_shares() const {
    return now_ == state::deploying || now_ == state::conducting;
  }
  /// The outcome of the attempt is known: what daemons still tell does not
  /// count.
  bool is_over() const { return now_ >= state::ending; }
  /// All shares have ended.
  bool is_closed() const { return now_ >= state::closing; }
  /// Its daemons have shares that have not ended, or are to have some.
  bool needs_daemons() const {
    return now_ != state::queued && now_ != state::waiting && !is_closed();
  }
  bool cancelled() const { return is_cancelled_; }
  bool has_paused() const { return has_paused_; }
  /// Whether it can be told to pause.
  bool may_pause() const {
    return now_ == state::conducting && !is_cancelled_ && !was_told_to_pause_;
  }

  /// Whether another attempt is to follow.
  bool again() const { return is_again_; }

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
  task close_if_ended();
  task close();
  task file();
  void fail_for_good(error reason);

  std::set<std::string> daemons_;
  std::set<std::string> awaited_;      ///< Those that owe an answer.
  std::map<std::string, error> lost_;  ///< Those that will never give one.
  std::set<std::string> done_without_; ///< Those that need not give any.
  state now_;
  std::optional<error> failure_;
  bool is_first_ = true;
  bool recovers_ = false;
  bool is_led_ = false; ///< It has a CONDUCTOR, which may use its files.
  bool was_told_to_pause_ = false;
  bool has_paused_ = false;
  bool is_cancelled_ = false;
  bool is_again_ = false;
};

/// What is said of a daemon that did not say whether its data are sound.
error unverified(const std::string& daemon, const error& reason);

} // namespace graphmill
