#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace graphmill {

/// The first lines of a metrics.jsonl, which nobody changes any more: a run
/// adds lines behind them, and one that goes back begins another file. So any
/// thread may read them.
struct metrics_part {
  std::shared_ptr<const unique_fd> file; ///< Null: no lines.
  std::uint64_t bytes = 0;
  std::filesystem::path path; ///< For errors.

  /// Fills `to`, which is not empty, from that byte on. Fails if somebody else
  /// has cut the file short. @pre it is within `bytes`
  result<void> read(std::span<char> to, std::uint64_t at) const;
};

/// metrics.jsonl of a run: the one place where its lines are, for a run may
/// have any number of epochs. Of each it remembers 16 bytes. One thread at a
/// time.
class metrics_log {
public:
  explicit metrics_log(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  /// Appends a line, or nothing if it fails.
  result<void> add(const nlohmann::json& line);

  /// Begins another file, with these lines, an array.
  result<void> replace(const nlohmann::json& lines);

  /// The lines until the end of an epoch, counted from 1, without that of a
  /// test. @pre no line before the first `add` is of a later epoch
  result<metrics_part> until(std::int32_t epoch);

  /// Calls back with each line, an object with a `phase`, as the file has them
  /// by now. Ends before what no run has written, such as a last line that was
  /// cut short.
  void each(const std::function<void(nlohmann::json line)>& tell) const;

  /// All of these lines, an array.
  nlohmann::json read() const;

private:
  result<void> open();

  std::filesystem::path path_;
  std::shared_ptr<unique_fd> file_; ///< Null: not open.
  std::uint64_t first_ = 0;         ///< Bytes when it was opened.
  /// Bytes behind the last line of each epoch that has been added to.
  std::vector<std::pair<std::int32_t, std::uint64_t>> ends_;
};

/// The epoch of a line of metrics.jsonl, which counts from 1; 0 if it is
/// damaged.
std::int32_t epoch_of(const nlohmann::json& line);

} // namespace graphmill
