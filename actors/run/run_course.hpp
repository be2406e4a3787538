#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"

#include <cstdint>
#include <optional>
#include <set>

namespace graphmill {

/// What a run is doing, from its start to its end, and what it does next. It
/// puts the beginning and the end of a run around its `course`, which orders
/// the phases and decides at the star:
///
///     waiting [---> filling] [---> resuming] ---> *
///
///     * ---> in_phase [---> comparing] ---> *
///     * ---> keeping_best ----------------> *
///     * ---> restoring_best --------------> *
///     * ---> saving ---> fetching ---> ended
///
///     in_phase            -- paused --> pausing --> ended
///     any before `saving` -- failed, cancelled --> saving
///     any before `saving` -- failed, without steps of its own --> ended
///     any                 -- cancelled at once --> ended
///
/// A run with caches is `filling` them first. One that goes on from a
/// checkpoint is `resuming`: its trainers take over the weights of then, and
/// its course goes to where it stood. Until they have them there is nothing to
/// save.
///
/// A run that pauses ends without weights: another attempt goes on from the
/// state that one of its trainers gives while it is `pausing`.
///
/// Failure and cancellation are noted beside the state. The first failure
/// counts. A run that has diverged goes back to its best weights before it is
/// saved, and ends without weights where there are none, or a trainer does not
/// go back. A run that is cancelled comes to its end where it has equal weights
/// at all ranks: at the star, or when all trainers have stopped after the same
/// step.
///
/// The CONDUCTOR calls it from its handlers, one member function per event, and
/// carries out the task that it gets back. An event that comes too late or
/// twice gives `task::none`. It knows nothing of members, messages and time,
/// asks nobody, and never goes back to the star once it is `saving`.
class run_course {
public:
  enum class state : std::uint8_t {
    waiting,        ///< Until it is told to start.
    filling,        ///< Members fill their caches of remote rows.
    resuming,       ///< Trainers take over the state of a checkpoint.
    in_phase,       ///< A pass over a split, `step` says which.
    comparing,      ///< The replicas' weights, after an epoch.
    keeping_best,   ///< Trainers remember their weights.
    restoring_best, ///< They go back to them.
    pausing,        ///< The state is taken that another attempt begins with.
    saving,         ///< The trainers' last weights are taken, where they are.
    fetching,       ///< One replica's weights are brought here.
    ended,
  };

  /// What the caller is to do now. Orders are to all members that are there;
  /// once they have answered, `answered` is due.
  enum class task : std::uint8_t {
    none,
    fill_caches,
    resume,      ///< Order the state of the checkpoint, compare digests.
    begin_phase, ///< `step` says which. Then `phase_over` is due.
    stop_phase,  ///< After the step that is on. Then `stopped` is due.
    compare,     ///< Order digests, and compare them.
    keep_best,
    restore_best,
    pause, ///< Take the state of a trainer. Then `paused` is due.
    save,  ///< Order a snapshot, and compare its digests.
    fetch, ///< Bring weights of the snapshot. Then `fetched` is due.
    end,   ///< Tell the observer. Nothing is due.
  };

  /// @param phases At its beginning. @param ranks Trainers in all.
  /// @param caches Whether members have caches to fill.
  /// @param from Where a run stood that this one goes on with.
  run_course(course phases, rank_id ranks, bool caches,
             const std::optional<course_position>& from = {});

  // -- events of the run

  task start();

  /// Rank 0 has trained a step: there are weights worth keeping.
  void trained() { ++train_steps_; }

  /// All ranks have told of all steps of the phase that is on.
  /// @param quality As of `course::finished`.
  task phase_over(const batch_metrics& metrics,
                  std::optional<double> quality = {});

  /// All members have answered the last request, or never will.
  /// @param odd What is wrong with the answers, if anything.
  task answered(std::optional<error> odd);

  /// The search for weights is over. @param found Whether there are any.
  task fetched(bool found);

  // -- the end of an attempt

  /// The phase that is on is not begun, or not gone on with, in this attempt.
  task pause();

  /// The state is taken that the next attempt begins with.
  task paused();

  // -- ways to an early end

  /// The user asks to end after the step that is on.
  task cancel();

  /// The user wants neither to wait nor to keep the weights.
  task cancel_now();

  /// A trainer has stopped, as `stop_phase` asks all to. One that stops unasked
  /// makes the run a failure.
  task stopped(rank_id rank);

  /// Anything that makes the run a failure.
  task fail_run(error reason);

  // -- where it stands

  state now() const { return now_; }
  bool has_ended() const { return now_ == state::ended; }

  /// The step of the course that is on. Has a meaning in a phase alone.
  course_step step() const { return phases_.next(); }

  /// Whether a checkpoint is due before a task: when an epoch is behind the
  /// run, and where one stops that is cancelled.
  /// @param crossed Whether another epoch has begun, or would.
  bool leaves_checkpoint(task next, bool crossed) const;

  /// Why it is no success, as far as is known.
  const std::optional<error>& failure() const { return failure_; }
  std::int64_t train_steps() const { return train_steps_; }
  std::optional<double> best_validation() const {
    return phases_.best_validation();
  }
  /// Where the epoch that is on began: see `course`.
  const course_position& epoch_begin() const { return phases_.epoch_begin(); }

private:
  task enter(state next, task todo);
  task take_over();
  task next();
  task diverged(std::int32_t epoch);
  task gone_back(const std::optional<error>& odd);
  task save_cancelled();
  bool ends_already() const { return now_ >= state::saving; }

  course phases_;
  rank_id ranks_;
  bool caches_;
  bool resumes_ = false; ///< Trainers have yet to take over.
  state now_ = state::waiting;
  std::optional<error> failure_;
  bool cancelled_ = false; ///< By the user, who would wait for its end.
  std::int64_t train_steps_ = 0;
  std::set<rank_id> stopped_; ///< Whose trainers have said so.
};

} // namespace graphmill
