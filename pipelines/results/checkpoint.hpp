#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"
#include "pipelines/results/learnt_from.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a run goes on from, besides its definition and its data.
struct training_state {
  course_position at;
  batch_metrics so_far; ///< Of the steps of the epoch that is on.
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
  std::filesystem::path data; ///< Where the dataset lay.
  rank_id world = 1;          ///< Trainers.
  part_id parts = 1;
  /// How many trainers it has had since when, if their number may change.
  std::vector<size_change> sizes = {};
  double seconds = 0; ///< That the run has taken so far.
  /// The lines of metrics.jsonl of the epochs behind it, as an array.
  nlohmann::json metrics = nlohmann::json::array();
  /// Of weights that are sent to predict with; others are of `dataset_digest`.
  std::optional<learnt_from> learnt = std::nullopt;
};

/// The files in the folder of a checkpoint.
inline constexpr auto checkpoint_state_file = "state.json";
inline constexpr auto checkpoint_tensors_file = "tensors.safetensors";

/// How many trainers the run of a checkpoint has had since when: always as many
/// if it does not say.
std::vector<size_change> sizes_until(const checkpoint& made);

/// The name of a checkpoint's folder: names sort as positions do.
std::string checkpoint_name(const course_position& at);

/// Writes a checkpoint into a folder of checkpoints, which is made if need be:
/// aside, synced, renamed. Then the oldest ones go, until `keep` are left.
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

/// The newest checkpoint of a folder that is whole; none if there are no
/// checkpoints. Fails if there are, and all are damaged.
result<std::optional<found_checkpoint>>
newest_checkpoint(const std::filesystem::path& folder);

/// Removes the checkpoints behind a position: a run that goes on from there
/// writes others.
result<void> remove_checkpoints_after(const std::filesystem::path& folder,
                                      const std::string& name);

} // namespace graphmill
