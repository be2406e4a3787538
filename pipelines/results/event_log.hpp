#pragma once

#include "messages/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace graphmill {

/// The curves of a run for TensorBoard: a copy of metrics.jsonl as one event
/// file. It is a function of the lines, so that whatever went wrong with a file
/// (a full disk, a run that went back) is mended by a new one with all of them.
/// Holds no file open, for runs may wait among many others. One thread at a
/// time.
///
/// At the step of training that is the last one when a phase ends, in float32:
///   train/loss, validation/loss, test/loss, and so .../accuracy
///   .../mse and .../mae of numbers, .../mrr, .../hits@1, .../hits@3,
///   .../hits@10 and .../mean_rank of links, with ranks among all nodes
///   .../recall@20 and .../ndcg@20, and the metric of a run
///   learning_rate, seeds_per_second   of training
class event_log {
public:
  /// @param folder For the event files of this run alone; made when the first
  /// one is written. See `event_place` if it is a link.
  explicit event_log(std::filesystem::path folder)
    : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }

  /// Tells of the last line, and of all others if they are not told yet, in one
  /// write. What has failed is made good by the next call, or, after all of
  /// many lines could not be written, by one some lines later.
  /// @param line The last one. @param metrics The file with all lines, which
  /// has one more than at the last call.
  result<void> tell(const nlohmann::json& line,
                    const std::filesystem::path& metrics);

  /// Removes the files, as what they tell does not count any more: of this
  /// object, and of processes before.
  result<void> forget();

private:
  result<void> write_all_of(const std::filesystem::path& metrics);
  result<void> append(const std::string& records);
  result<void> remove_files(const std::filesystem::path& but);

  std::filesystem::path folder_;
  std::filesystem::path file_; ///< Empty: none that tells of all lines so far.
  std::int64_t steps_ = 0;     ///< Of training, that `file_` tells of.
  std::uint64_t pause_ = 0;    ///< Calls until all lines are read again.
};

} // namespace graphmill
