#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/results/event_log.hpp"
#include "pipelines/results/learnt_from.hpp"
#include "pipelines/results/metrics_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  /// What `evaluate` and `predict` need to use a run.
  struct origin {
    std::filesystem::path data; ///< Absolute path of the dataset.
    learnt_from learnt;
  };

  run_folder() = default; ///< None yet.

  /// Makes `root`/<name>-<time>[-n], which must not exist.
  static result<run_folder> create(const std::filesystem::path& root,
                                   const std::string& name,
                                   const std::string& definition_yaml,
                                   const origin& from);

  /// Opens a finished run. An error names what is missing, or a link in its
  /// folder.
  static result<run_folder> open(const std::filesystem::path& folder);

  /// Opens a run that may not have ended, to continue it.
  static result<run_folder> reopen(const std::filesystem::path& folder);

  /// Keeps other processes from writing here, until this object or the process
  /// ends. Fails if another process writes.
  result<void> hold();

  /// Writes curves for TensorBoard from now on, also in processes that reopen
  /// the run: these follow what is called `tensorboard` here.
  /// @param elsewhere The curves go to a new folder there with the name of the
  /// run; empty: into this folder. Curves that the run already has keep their
  /// place.
  result<void> keep_events(const std::filesystem::path& elsewhere = {});

  /// Goes back to an earlier position. Removes curves for TensorBoard: the next
  /// `add_events` writes all lines. Removes the summary of an earlier end.
  /// Weights stay until others replace them.
  /// @param metrics The lines of metrics.jsonl until then, an array.
  /// @param at Later steps are removed from steps.jsonl.
  /// @param definition_yaml The definition with which the run continues.
  result<void> go_back(const nlohmann::json& metrics, const course_position& at,
                       const std::string& definition_yaml);

  /// Whether steps.jsonl has all lines of the finished training steps of the
  /// current epoch: that many, one for each rank of each step.
  bool has_steps_until(const course_position& at, std::int64_t lines) const;

  const std::filesystem::path& path() const { return path_; }
  const origin& from() const { return origin_; }
  std::filesystem::path definition() const { return path_ / "definition.yaml"; }
  std::filesystem::path weights() const {
    return path_ / "weights.safetensors";
  }
  const std::filesystem::path& metrics_file() const { return metrics_.path(); }
  const metrics_log& metrics() const { return metrics_; }
  std::filesystem::path summary_file() const { return path_ / "summary.json"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  /// Appends a line to metrics.jsonl and flushes it.
  result<void> add_metrics(const nlohmann::json& line);
  /// As that of `metrics_log`.
  result<metrics_part> metrics_until(std::int32_t epoch) {
    return metrics_.until(epoch);
  }
  /// Adds the last line of metrics.jsonl to the curves for TensorBoard, if the
  /// run has any. The next call repairs a failure, which is no reason to end a
  /// run.
  result<void> add_events(const nlohmann::json& line);
  /// Appends a line to steps.jsonl, and creates it if needed.
  result<void> add_step(const nlohmann::json& line);
  /// Writes sizes.json.
  result<void> write_sizes(const std::vector<size_change>& sizes);
  /// The content of sizes.json; empty if there is no such file, or it is
  /// damaged.
  std::vector<size_change> read_sizes() const;
  /// Writes summary.json, aside first, then renamed.
  result<void> write_summary(const nlohmann::json& summary);
  /// The content of summary.json, which may be any JSON. Fails with `not_found`
  /// if there is no such file, and with `invalid_data` if it is no JSON.
  result<nlohmann::json> read_summary() const;
  /// The summary of a run that has ended and has weights; else null.
  nlohmann::json summary_at_end() const;

private:
  explicit run_folder(std::filesystem::path path) : path_(std::move(path)) {}

  result<void> begin(const std::string& definition_yaml);

  result<void> cut_steps(const course_position& at);

  std::filesystem::path path_;
  origin origin_;
  unique_fd held_; ///< Locked, after `hold`.
  metrics_log metrics_{path_ / "metrics.jsonl"};
  unique_fd steps_;
  std::optional<event_log> events_; ///< Empty: no curves for TensorBoard.
};

/// Writes a small text file aside, fsyncs it and renames it to `path`.
result<void> write_file(const std::filesystem::path& path,
                        const std::string& content);

/// A line of a file of lines, with its end.
std::string line_text(const nlohmann::json& content);

/// Appends one. No half of a line stays, if the system lets us cut it off.
/// @param path For the error only. @param line With its end.
result<void> append_line(int file, const std::filesystem::path& path,
                         std::string_view line);

} // namespace graphmill
