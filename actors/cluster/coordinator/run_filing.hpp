#pragma once

#include "actors/run/checkpoints/checkpoint_writer.hpp"
#include "actors/run/run_reporter.hpp"
#include "actors/run/run_summary.hpp"
#include "messages/base/ids.hpp"
#include "messages/base/work_report.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/cluster.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/run_folder.hpp"

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The run folder of a run on a cluster, at the coordinator.
class run_file {
public:
  /// @param data The coordinator's partitioned dataset.
  static result<std::shared_ptr<run_file>>
  create(const std::filesystem::path& runs, const definition& def,
         const std::filesystem::path& data, const std::string& digest);

  /// Of a run that another coordinator has left. Says nothing of where it stands:
  /// one of the next two does.
  static result<std::shared_ptr<run_file>>
  reopen(const std::filesystem::path& runs, const std::string& id);

  /// The id of the run, which is the name of its folder.
  std::string id() const { return folder_.path().filename().string(); }
  /// Where the conductor's observer reports to; one thread at a time.
  run_reporter& reporter() { return reporter_; }

  /// Makes of the new folder that of a run which stood at a checkpoint.
  result<void> go_on_from(const checkpoint& before, const definition& def);

  /// Makes of the folder that of a run which has not begun.
  result<void> begin_anew(const definition& def);

  /// Opens the log, and holds the folder. Called when the run begins, and not
  /// when it is taken, so that runs that wait hold no file open.
  /// @param console Of the coordinator: gets warnings, too.
  result<void> begin(spdlog::sink_ptr console);

  /// Adds what a daemon says about its share.
  void add(const std::string& daemon, const work_report& share);

  /// How the actors of the run were, over the whole of it.
  void tell(run_health health) { result_.health = std::move(health); }

  /// Has the checkpoints of the run written into its folder. Called once, after
  /// `begin`.
  /// @param self This. @param world, parts Of the run.
  static void keep_checkpoints(const std::shared_ptr<run_file>& self,
                               run_observer& observer, const definition& def,
                               rank_id world, part_id parts);

  /// Takes the folder away: the run was not taken.
  void discard();

  /// Writes weights and summary.
  /// @param cancelled Whether the user has asked for the end.
  /// @returns the run's record, complete but for the times.
  run_record close(const run_outcome& outcome, bool cancelled, double seconds);

private:
  explicit run_file(run_folder folder)
    : folder_(std::move(folder)), reporter_(nullptr, {}, &folder_) {}

  run_folder folder_;
  run_reporter reporter_;
  std::shared_ptr<spdlog::logger> log_;       ///< Null before `begin`.
  std::shared_ptr<checkpoint_writer> writer_; ///< Null: no checkpoints.
  double seconds_before_ = 0; ///< Of a run that this one goes on with.
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
