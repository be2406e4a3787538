#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/results/event_log.hpp"
#include "pipelines/results/learnt_from.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The folder with a run's results, for its owner alone, and its files of lines
/// while they are written. One thread at a time may write. The definition,
/// run.json and the summary are written aside and renamed, so that none of them
/// is ever seen half-made. Nothing in it may be a link, but for the one that
/// `keep_events` makes. The folder holds:
///   definition.yaml      the definition in full, defaults and `--set` included
///   run.json             where its data lies, its digest, what its labels
///                        are (their kind, node type, number and names) and
///                        what is known of its features
///   metrics.jsonl        one JSON object per finished phase
///   sizes.json           since when it has had how many trainers, if that may
///                        change
///   steps.jsonl          one per step and trainer, with `train.record_steps`
///   weights.safetensors  the final weights
///   summary.json         what `--json` prints at the end
///   log.txt              warnings and events; the earlier ones of a long
///                        log are in log.txt.old
///   tensorboard/         what metrics.jsonl tells, after `keep_events`: see
///                        `event_log`; a link, if it is elsewhere
///   curves.id            proves such a link: see `event_place`
///   checkpoints/         the last ones: see `checkpoint`
class run_folder {
public:
  /// What `evaluate` and `predict` need to go on with a run.
  struct origin {
    std::filesystem::path data; ///< Absolute path of the dataset.
    learnt_from learnt;
  };

  /// Makes `root`/<name>-<time>[-n], which did not exist before.
  static result<run_folder> create(const std::filesystem::path& root,
                                   const std::string& name,
                                   const std::string& definition_yaml,
                                   const origin& from);

  /// Opens a finished run; an error says what is missing, or that there is a
  /// link in its folder.
  static result<run_folder> open(const std::filesystem::path& folder);

  /// Opens a run that may not have come to its end, to go on with it.
  static result<run_folder> reopen(const std::filesystem::path& folder);

  /// Keeps other processes from writing here, until this object or the process
  /// ends. Fails if one does.
  result<void> hold();

  /// Has curves for TensorBoard written from now on, also by processes that
  /// reopen the run: these go by what is called `tensorboard` here.
  /// @param elsewhere Curves go to a folder there with the name of the run,
  /// which nothing may have yet; empty: into this folder. Of a run that has
  /// curves already, their place stays.
  result<void> keep_events(const std::filesystem::path& elsewhere = {});

  /// Goes back to where a run stood. Curves for TensorBoard are removed: the
  /// next `add_events` tells of all lines. So is the summary of the end that
  /// the run had come to before, if any; weights stay until others take their
  /// place.
  /// @param metrics The lines of metrics.jsonl until then, an array.
  /// @param at Later steps leave steps.jsonl.
  /// @param definition_yaml What the run goes on with.
  result<void> go_back(const nlohmann::json& metrics, const course_position& at,
                       const std::string& definition_yaml);

  /// Whether steps.jsonl has all lines of the steps of training that the epoch
  /// which is on has behind it: that many, one for each rank of each step.
  bool has_steps_until(const course_position& at, std::int64_t lines) const;

  const std::filesystem::path& path() const { return path_; }
  const origin& from() const { return origin_; }
  std::filesystem::path definition() const { return path_ / "definition.yaml"; }
  std::filesystem::path weights() const {
    return path_ / "weights.safetensors";
  }
  std::filesystem::path metrics_file() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path summary_file() const { return path_ / "summary.json"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  /// Appends a line to metrics.jsonl and flushes it.
  result<void> add_metrics(const nlohmann::json& line);
  /// Adds the last line to the curves for TensorBoard, if the run has any. What
  /// fails is made good by the next call: no reason to end a run.
  /// @param lines All that stand in metrics.jsonl, an array.
  result<void> add_events(const nlohmann::json& lines);
  /// Appends a line to steps.jsonl, which the first one makes.
  result<void> add_step(const nlohmann::json& line);
  /// Writes sizes.json.
  result<void> write_sizes(const std::vector<size_change>& sizes);
  /// What stands there; nothing if there is no such file, or a damaged one.
  std::vector<size_change> read_sizes() const;
  /// Writes summary.json, aside first, then renamed.
  result<void> write_summary(const nlohmann::json& summary);
  /// What stands there, which may be anything; fails with `not_found` if there
  /// is no such file, and with `invalid_data` if it is no JSON.
  result<nlohmann::json> read_summary() const;
  /// The same of a run that has come to its end and left weights; else null.
  nlohmann::json summary_at_end() const;

private:
  result<void> begin(const std::string& definition_yaml);

  result<void> cut_steps(const course_position& at);

  std::filesystem::path path_;
  origin origin_;
  unique_fd held_; ///< Locked, after `hold`.
  unique_fd metrics_;
  unique_fd steps_;
  std::optional<event_log> events_; ///< Nothing: no curves for TensorBoard.
};

/// Writes a small text file aside, fsyncs it and renames it to `path`.
result<void> write_file(const std::filesystem::path& path,
                        const std::string& content);

} // namespace graphmill
