#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/results/learnt_from.hpp"
#include "pipelines/results/metrics_log.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The state from which a run continues, besides its definition and data.
struct training_state {
  course_position at;
  batch_metrics so_far; ///< Of the steps of the current epoch.
  /// `replica::state`, after `at.train_steps`.
  std::shared_ptr<const std::vector<named_tensor>> tensors;
};

/// All that the rest of a run depends on, so that it can be gone on with
/// elsewhere, too. On disk it is a folder, named by its position, with
///   tensors.safetensors  weights, moments of the optimizer, best weights
///   state.json           all else, and the digest of that file
/// state.json is {"digest": d, "state": {...}}, without white space: d is the
/// XXH3 of the text of the state. So a bit that flips in either is noticed, and
/// a file that was cut short.
struct checkpoint {
  training_state state;
  std::string definition; ///< As YAML, in full.
  std::string dataset_digest;
  std::filesystem::path data; ///< The path of the dataset.
  rank_id world = 1;          ///< Trainers.
  part_id parts = 1;
  /// The sizes of the run, if the number of trainers may change.
  std::vector<size_change> sizes = {};
  double seconds = 0; ///< Of the run so far.
  /// The lines of metrics.jsonl of earlier epochs, as an array.
  nlohmann::json metrics = nlohmann::json::array();
  /// If it has a file, its lines are written in place of `metrics`. They are
  /// copied from file to file, for they may be more than memory should hold.
  metrics_part told = {};
  /// For weights that are sent to predict with; otherwise `dataset_digest`
  /// counts.
  std::optional<learnt_from> learnt = std::nullopt;
};

/// The files in the folder of a checkpoint.
inline constexpr auto checkpoint_state_file = "state.json";
inline constexpr auto checkpoint_tensors_file = "tensors.safetensors";

/// The sizes of the run of a checkpoint: always the same number of trainers if
/// it does not say.
std::vector<size_change> sizes_until(const checkpoint& made);

/// The name of a checkpoint's folder: names sort as positions do.
std::string checkpoint_name(const course_position& at);

/// Writes a checkpoint into a folder of checkpoints, which is made if needed:
/// aside, synced, renamed. Then the oldest are removed until `keep` are left.
/// @returns its folder.
result<std::filesystem::path>
write_checkpoint(const std::filesystem::path& folder, const checkpoint& made,
                 std::uint32_t keep);

/// Reads the folder of a checkpoint. Trusts nothing: digests, types, ranges.
result<checkpoint> read_checkpoint(const std::filesystem::path& folder);

/// The names of the checkpoints in a folder, the newest first. None if there is
/// no such folder.
std::vector<std::string> checkpoints_in(const std::filesystem::path& folder);

struct found_checkpoint {
  checkpoint content;
  std::string name;
  /// Newer ones that are damaged, each a sentence.
  std::vector<std::string> passed_over = {};
};

/// The newest intact checkpoint of a folder; none if there are no checkpoints.
/// Fails if all checkpoints are damaged.
result<std::optional<found_checkpoint>>
newest_checkpoint(const std::filesystem::path& folder);

/// Removes the checkpoints after a position: a run that continues from there
/// writes others.
result<void> remove_checkpoints_after(const std::filesystem::path& folder,
                                      const std::string& name);

} // namespace graphmill
