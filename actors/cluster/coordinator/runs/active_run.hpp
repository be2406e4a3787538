#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "actors/cluster/coordinator/runs/learnt_view.hpp"
#include "actors/cluster/coordinator/runs/rendezvous_table.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/run_turn.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/cluster/history/run_journal.hpp"
#include "actors/cluster/recovery/run_recovery.hpp"
#include "messages/base/moments.hpp"
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

/// What is looked for of a run's state on daemons (`coordinator_kept.cpp`).
struct kept_search;

/// A run from its submission to its end.
struct submitted_run {
  using clock = std::chrono::steady_clock;

  std::string id;
  definition def;
  std::shared_ptr<run_file> file;
  run_record record;
  learnt_view view{}; ///< Of the dataset.
  std::string home{}; ///< What counts as the host of who submitted it.
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
  std::uint32_t attempt = 1;
  /// The last attempt that its folder knows of.
  std::uint32_t last_begun = 1;
  run_recovery recovery;
  /// Daemons that have had trainers of it, and may have kept its state.
  std::set<std::string> holders{};
  /// Trainers of the last attempt that lost a daemon; 0: of none.
  std::uint32_t trainers_before = 0;
  /// Its next attempt goes on with fewer of them then.
  clock::time_point shrink_at{};
  clock::time_point not_before{}; ///< Its next attempt does not begin before.
  /// Names of daemons that it was on, which may be about to come back to this
  /// coordinator. It waits for them until then.
  std::set<std::string> returning{};
  clock::time_point return_until{};
  double spent = 0; ///< Seconds of the last attempt, until they are filed.

  /// Where the next attempt begins, as far as is known.
  run_point point() const {
    return from ? run_point{from->at.epoch, from->at.step} : run_point{};
  }

  /// The definition as it is to be placed: with the number of trainers that
  /// `trainer.sizes` has from there on, if it says.
  definition wanted() const;

  /// Whether it was on, and has its place among those that are on until its
  /// next attempt.
  bool awaits_attempt() const { return recovery.waits() || !returning.empty(); }

  /// `holders` without the coordinator's own, which the history need not name.
  std::vector<std::string> holders_but(const std::string& own) const;
};

std::set<std::string> names_of(const placement& where);

/// What another coordinator needs to go on with a run.
/// @param daemons That it is on; none while it is queued.
run_standing standing_of(const submitted_run& run,
                         std::vector<std::string> daemons = {});

/// A run that is on, with all that the COORDINATOR keeps of it. What the
/// cluster is doing for the run is known by `turn`.
struct active_run : submitted_run {
  placement where;
  run_turn turn;
  health_keeper health;
  std::shared_ptr<kept_search> search; ///< Of its state; null: none is on.
  std::vector<std::string> members;    ///< Daemons with trainers.
  conductor_actor conductor;           ///< While it is conducted.
  bool is_unwritten = false; ///< The history has yet to know of the attempt.
  bool is_deployed = false;  ///< Its daemons have been told to prepare.
  bool is_led = false; ///< The conductor is there yet, and may use the files.
  bool closes_unled = false; ///< It is closed as soon as that has ended.
  /// Up to where trainers of this attempt have told of steps.
  std::optional<trained_until> reached;
  bool paused = false; ///< In order; `from` is what the next one begins with.
  bool grows = false;  ///< It is told to pause, as there is room for more.
  clock::time_point began = clock::now();
  run_outcome outcome; ///< Set at the end; `turn` has the failure that counts.
  double seconds = 0;  ///< That are yet to be filed; set at the end.
  std::map<std::string, std::uint64_t> sequences; ///< Of events, by daemon.
  std::set<std::string> sound;     ///< Daemons whose data were verified.
  std::vector<std::string> losses; ///< Sentences about what it does without.

  /// Whether this is the attempt `number` of the run `run`.
  bool is(const std::string& run, std::uint32_t number) const {
    return id == run && attempt == number;
  }

  /// A rank that waits for the value of a key in `table`, by which ranks find
  /// each other.
  struct question {
    std::string key;
    responder reply;
    clock::time_point until;
  };
  rendezvous_table table;
  std::vector<question> questions;

  /// Trainers of this attempt.
  std::uint32_t trainers() const {
    return static_cast<std::uint32_t>(where.daemon_of_rank.size());
  }

  bool uses(const std::string& daemon) const;

  /// Whether this is a daemon of the run, and not another one with its name.
  bool is_member(const peer_identity& identity) const;

  /// Whether it is of use to the run still: its share has not ended, as far as
  /// is known, and the run does not go on without it.
  bool needs(const std::string& daemon) const {
    return turn.now() != run_turn::state::filing && uses(daemon)
           && !turn.does_without(daemon);
  }

  /// Whether the run can go on if this daemon is gone: it only serves parts,
  /// all of them are served by others, too, that are not gone, and its data
  /// were verified, for no run succeeds with others.
  bool can_do_without(const std::string& daemon) const;

  /// These tell `turn` of an event, and the conductor, too, while it leads the
  /// run.
  run_turn::task fail_run(error reason);
  run_turn::task lose(const std::string& daemon, const error& reason);
  run_turn::task cancel(bool now);

  /// Fails if a daemon never comes to a moment in this run, and says who does.
  /// Before the run is placed, any may.
  /// @param leader The coordinator's daemon.
  result<void> check_moment(const std::string& daemon, moment at,
                            const std::string& leader) const;

  deployment deployment_for(std::size_t daemon, const std::string& digest,
                            const std::string& coordinator) const;

  /// Takes events of a daemon to the conductor. Events that have come before
  /// are passed over, those of ranks of other daemons refused.
  result<run_turn::task> take(const std::string& daemon,
                              const run_events& events);
  void take(const rendezvous_request& request, const responder& reply);
  /// Answers questions that have waited long enough, or all.
  void answer_questions(clock::time_point now);
  /// Answers all questions and forgets all keys.
  void end_rendezvous();

private:
  bool has_rank(const std::string& daemon, rank_id rank) const;
  void note_step(const batch_key& key);
};

/// What a conductor tells on the way: metrics and progress to the coordinator,
/// and to the run's files.
run_observer observer_of(const submitted_run& run,
                         const coordinator_actor& coordinator);

} // namespace graphmill
