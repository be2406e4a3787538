#pragma once

#include "actors/cluster/coordinator/runs/attempt.hpp"
#include "actors/cluster/coordinator/runs/learnt_view.hpp"
#include "actors/cluster/coordinator/runs/rendezvous_desk.hpp"
#include "actors/cluster/coordinator/runs/run_conductor.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/cluster/history/run_journal.hpp"
#include "actors/cluster/recovery/run_recovery.hpp"
#include "actors/run/run_observer.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/run.hpp"
#include "pipelines/definition/placement.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace graphmill {

class kept_search;
class run_file;

/// What a run of the queue waits for before its next attempt, besides a place.
struct attempt_wait {
  using clock = std::chrono::steady_clock;

  clock::time_point not_before{}; ///< A pause after a failure.
  /// Trainers of the last attempt that lost a daemon; 0: of none.
  std::uint32_t trainers_before = 0;
  /// Then it goes on with fewer of them.
  clock::time_point shrink_at{};
  /// Names of daemons that it was on, which may be about to come back to this
  /// coordinator. It waits for them until then.
  std::set<std::string> returning{};
  clock::time_point return_until{};
};

/// What the COORDINATOR keeps of an attempt.
struct active_run {
  using clock = std::chrono::steady_clock;

  placement where;
  health_keeper health;
  std::shared_ptr<kept_search> search;      ///< Of its state; null: none is on.
  std::vector<std::string> members;         ///< Daemons with trainers.
  std::unique_ptr<run_conductor> conductor; ///< While it is conducted.
  /// Up to where trainers of this attempt have told of steps.
  std::optional<trained_until> reached;
  clock::time_point began = clock::now();
  run_outcome outcome; ///< Set at the end; the ATTEMPT has the failure.
  double seconds = 0;  ///< That are yet to be filed; set at the end.
  std::map<std::string, std::uint64_t> sequences; ///< Of events, by daemon.
  std::set<std::string> sound;     ///< Daemons whose data were verified.
  std::vector<std::string> losses; ///< Sentences about what it does without.
  rendezvous_desk rendezvous;
};

/// A run from its submission to its end.
struct submitted_run {
  std::string id;
  definition def;
  std::shared_ptr<run_file> file;
  run_record record;
  learnt_view view{}; ///< Of the dataset.
  std::string home{}; ///< What counts as the host of who submitted it.
  /// Of a feed: the daemon that takes its batches. It has no conductor, and one
  /// attempt: its consumer begins another run after a loss. Empty: it trains.
  std::string consumer{};
  /// Of a run that goes on with another one. It takes memory, so
  /// `resumed_place` counts how many there are.
  std::optional<training_state> from;
  std::shared_ptr<void> resumed_place;
  /// Which run and which checkpoint of it that was; empty: none.
  std::string from_run{};
  std::string from_checkpoint{};
  std::int64_t place = 0; ///< In the queue: the least comes first.
  /// Counts how often it has left the queue, with the next time: again whenever
  /// a daemon is lost, or the coordinator. Then `from` is what its trainers had
  /// by then.
  std::uint32_t attempts = 1;
  /// The last attempt that its folder knows of.
  std::uint32_t last_begun = 1;
  run_recovery recovery;
  /// Daemons that have had trainers of it, and may have kept its state.
  std::set<std::string> holders{};
  double spent = 0; ///< Seconds of the last attempt, until they are filed.
  attempt_wait wait;
  attempt life;
  /// The task of `life` that is being carried out, or that has thrown halfway.
  attempt::task unfinished = attempt::task::none;
  active_run on; ///< Of the attempt that is on.

  /// Where the next attempt begins, as far as is known.
  run_point point() const {
    return from ? run_point{from->at.epoch, from->at.step} : run_point{};
  }

  /// The definition as it is to be placed: with the number of trainers that
  /// `trainer.sizes` has from there on, if it says.
  definition wanted() const;

  /// Whether it was on, and has its place among those that are on until its
  /// next attempt. @pre it is in the queue
  bool awaits_attempt() const {
    return life.now() == attempt::state::waiting || !wait.returning.empty();
  }

  /// What another coordinator needs to go on with it.
  /// @param daemons That it is on; none while it has not begun.
  run_standing standing(std::vector<std::string> daemons = {}) const;

  /// `holders` without one: the coordinator's own need not be in the history.
  std::vector<std::string> holders_but(const std::string& daemon) const;

  bool is_feed() const { return !consumer.empty(); }

  // -- of a run that is on

  /// Trainers of this attempt.
  std::uint32_t trainers() const {
    return static_cast<std::uint32_t>(on.where.daemon_of_rank.size());
  }

  bool uses(const std::string& daemon) const;

  /// Whether this is a daemon of the run, and not another one with its name.
  bool is_member(const peer_identity& identity) const;

  /// Whether it is of use to the run still: its share has not ended, as far as
  /// is known, and the run does not go on without it.
  bool needs(const std::string& daemon) const {
    return life.needs_daemons() && uses(daemon) && !life.does_without(daemon);
  }

  /// Whether the run can go on if this daemon is gone: it only serves parts,
  /// all of them are served by others, too, that are not gone, and its data
  /// were verified, for no run succeeds with others.
  bool can_do_without(const std::string& daemon) const;

  /// These tell `life` of an event, and the conductor, too, while that decides.
  /// If the run has no conductor then, because none could be spawned, its
  /// attempt ends.
  attempt::task fail_run(error reason);
  attempt::task lose(const std::string& daemon, const error& reason);
  attempt::task cancel(bool now);
};

std::set<std::string> names_of(const placement& where);

} // namespace graphmill
