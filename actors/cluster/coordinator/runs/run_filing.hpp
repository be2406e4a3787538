#pragma once

#include "actors/cluster/coordinator/runs/prediction_arrays.hpp"
#include "actors/cluster/health/progress_gauge.hpp"
#include "actors/process/logger.hpp"
#include "actors/run/checkpoints/checkpoint_writer.hpp"
#include "actors/run/run_reporter.hpp"
#include "actors/run/run_summary.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/work/work_report.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/run_folder.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The run folder of a run on a cluster, at the coordinator.
class run_file {
public:
  /// @param from The coordinator's partitioned dataset.
  static result<std::shared_ptr<run_file>>
  create(const std::filesystem::path& runs, const definition& def,
         const run_folder::origin& from);

  /// Of a run that another coordinator has left, with the metrics that it had
  /// told by then. One of the next two, or `go_back`, says where it stands.
  static result<std::shared_ptr<run_file>>
  reopen(const std::filesystem::path& runs, const std::string& id);

  /// The id of the run, which is the name of its folder.
  std::string id() const { return folder_.path().filename().string(); }
  /// Of the dataset that it is on.
  const std::string& dataset_digest() const {
    return folder_.from().learnt.dataset_digest;
  }
  /// What its model learns or, if it predicts with weights, what they have
  /// learnt, as far as that says what its outputs are.
  const learnt_from& learnt() const { return folder_.from().learnt; }
  bool has_checkpoints() const;
  /// Where the conductor's observer reports to; one thread at a time.
  run_reporter& reporter() { return reporter_; }

  /// Has curves for TensorBoard written into the folder.
  result<void> keep_events() { return folder_.keep_events(); }

  /// Makes of the new folder that of a run which stood at a checkpoint.
  /// @param stays Whether that will be found again where it was read.
  result<void> go_on_from(const checkpoint& before, const definition& def,
                          bool stays = true);

  /// Makes of the folder that of a run which has not begun.
  result<void> begin_anew(const definition& def);

  /// Opens the log, and holds the folder. Called when the run begins, and not
  /// when it is taken, so that runs that wait hold no file open.
  /// @param outlets Of the coordinator: where its log goes, too.
  result<void> begin(const log_outlets& outlets);

  /// An attempt of a run that is not its first one.
  struct next_attempt {
    std::uint32_t number = 2;
    double seconds_before = 0;  ///< That the attempt before has taken.
    std::uint32_t trainers = 1; ///< Unless `trainer.sizes` says otherwise.
    /// As that of `begin`, for a run that another process began.
    log_outlets outlets;
    /// Its beginning is not that of its definition: it went on with another
    /// run, perhaps by another definition, or began with weights of one.
    bool is_resumed = false;
  };

  /// Goes back to where the next attempt of the run begins: there each step
  /// will have been told once. Called after the end of the conductor; takes as
  /// long as the disk does.
  /// @param kept What daemons have kept of the run, if anything.
  /// @returns `kept`, or what the newest whole checkpoint holds, if that is
  /// further or some steps before `kept` were never told; nothing: from the
  /// beginning, which fails for a run that is resumed.
  result<std::optional<training_state>>
  go_back(std::optional<training_state> kept, const definition& def,
          const next_attempt& next);

  /// The last lines of metrics.jsonl, at most so many. To be called as
  /// `go_back` is.
  std::deque<std::string> last_lines(std::size_t most) const;

  /// Writes what the run would have gone on with as its last checkpoint, if it
  /// writes any, and none is further. To be called as `go_back` is.
  void leave(const training_state& state, const definition& def, part_id parts);

  /// How a run that has ended can be gone on with, behind the sentence that
  /// says why it has: it names the last checkpoint.
  std::string way_on();

  /// Notes with how many trainers the run goes on from here, if its definition
  /// lets their number change. What cannot be written is told in the log.
  void note_size(const definition& def, const size_change& now);

  /// Since when it has had how many trainers; empty if that does not change.
  const std::vector<size_change>& sizes() const { return sizes_; }

  /// What it had before the attempt that is on, for whoever tells how far it
  /// is.
  const progress_before& before() const { return before_; }

  /// Tells the run's log of what becomes of it.
  void note(const std::string& sentence) const;

  /// Adds what a daemon says about its share.
  void add(const std::string& daemon, const work_report& share);

  /// How the actors of the run were, over the whole of its last attempt.
  void tell(run_health health) { result_.health = std::move(health); }

  /// Has the checkpoints of the run written into its folder. Called once for
  /// each attempt, after `begin`.
  /// @param self This. @param world, parts Of the run.
  /// @param on_written As in `checkpoint_writer::setting`.
  static void
  keep_checkpoints(const std::shared_ptr<run_file>& self,
                   run_observer& observer, const definition& def, rank_id world,
                   part_id parts,
                   std::function<void(const std::string&)> on_written = {});

  /// Has predictions written into the folder by the conductor of the attempt
  /// that begins, in the place of what an earlier one has written of them.
  void keep_predictions(run_observer& observer, const prediction_shape& shape);

  /// Has the conductor of the attempt that begins tell what it measures, for
  /// the summary, where it is called `evaluation`. Fails the run if nodes of
  /// the split have no labels.
  /// @param self This. @param which Not `none`.
  static void keep_evaluation(const std::shared_ptr<run_file>& self,
                              run_observer& observer, measured_split which);

  /// Takes the folder away: the run was not taken.
  void discard();

  /// Writes weights and summary.
  /// @param cancelled Whether somebody may have asked for the end.
  /// @param feeds It has no weights. Its folder goes, too, unless it has
  /// failed.
  /// @returns the run's record, complete but for the times.
  run_record close(const run_outcome& outcome, bool cancelled, double seconds,
                   bool feeds = false);

private:
  explicit run_file(run_folder folder)
    : folder_(std::move(folder)), reporter_(nullptr, {}, &folder_) {}

  void read_metrics();
  nlohmann::json lines_of(std::int32_t epochs) const;
  void note_before(const nlohmann::json& metrics);
  std::optional<found_checkpoint> newest_whole() const;
  std::int64_t steps_left() const;
  void finish_checkpoints();
  checkpoint about(const definition& def, rank_id world, part_id parts) const;
  rank_id present_world(const definition& def) const;
  bool tells_all_steps(const definition& def, const course_position& at) const;
  void finish_predictions(nlohmann::json& summary);

  run_folder folder_;
  run_reporter reporter_;
  std::shared_ptr<spdlog::logger> log_;            ///< Null before `begin`.
  std::shared_ptr<checkpoint_writer> writer_;      ///< Null: no checkpoints.
  std::shared_ptr<prediction_arrays> predictions_; ///< Null: none are made.
  nlohmann::json evaluation_; ///< Of a run that measures alone; else null.
  /// Of attempts before, and of a run that this one goes on with.
  double seconds_before_ = 0;
  std::uint32_t attempts_ = 1;
  std::vector<size_change> sizes_;
  progress_before before_;
  run_result result_;
  nlohmann::json daemons_ = nlohmann::json::object();
};

/// The checkpoint of another run that one is to go on from. Takes as long as it
/// takes to read it.
result<checkpoint> checkpoint_of(const std::filesystem::path& runs,
                                 const resume_request& wanted);

/// A piece of a file of a run folder, or the list of its files. Names that lead
/// out of the folder are refused.
result<file_reply> read_run_file(const std::filesystem::path& runs,
                                 const file_request& wanted);

} // namespace graphmill
