#pragma once

#include "messages/base/error.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// The first bytes of an open file, which are whole lines of metrics.jsonl. A
/// run adds lines behind them, and one that goes back begins another file. So
/// any thread may read them.
struct metrics_part {
  std::shared_ptr<const unique_fd> file; ///< Null: no lines.
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;   ///< `content_hash::short_digest` of them.
  std::filesystem::path path; ///< For errors.

  /// Fills `to` from that byte on. Fails if somebody else has cut the file
  /// short. @pre it is within `bytes`
  result<void> read(std::span<char> to, std::uint64_t at) const;

  /// Of bytes that have another digest, or are not there.
  error changed() const;
};

/// metrics.jsonl of a run: the one place where its lines are, for a run may
/// have any number of epochs. Of each it remembers 24 bytes. One thread at a
/// time.
class metrics_log {
public:
  /// @param path Of a file that is empty, or not there, if lines are added
  /// before the first `replace`.
  explicit metrics_log(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  /// Appends a line, or nothing if it fails.
  result<void> add(const nlohmann::json& line);

  /// Begins another file, with these lines, an array.
  result<void> replace(const nlohmann::json& lines);

  /// The lines until the end of an epoch, counted from 1, without that of a
  /// test, as they were written: whether the file still has them shows when
  /// they are read. @pre no line of the last `replace` is of a later epoch
  result<metrics_part> until(std::int32_t epoch);

  /// Calls back with each line, an object with a `phase`, as the file has them
  /// by now. Ends before what no run has written, such as a last line that was
  /// cut short.
  void each(const std::function<void(nlohmann::json line)>& tell) const;

  /// All of these lines, an array.
  nlohmann::json read() const;

private:
  /// Where the lines of an epoch end that has been added to, or, of epoch 0,
  /// those that the file began with.
  struct epoch_end {
    std::int32_t epoch = 0;
    std::uint64_t bytes = 0;
    std::uint64_t digest = 0;
  };

  result<void> open();
  void begin(std::string_view text);
  epoch_end end_with(std::string_view text, std::int32_t epoch);

  std::filesystem::path path_;
  std::shared_ptr<unique_fd> file_; ///< Null: not open.
  // Of what was written. The file may have been changed by somebody else.
  std::uint64_t bytes_ = 0;
  content_hash hash_;
  std::vector<epoch_end> ends_; ///< Never empty.
};

/// The epoch of a line of metrics.jsonl, which counts from 1; 0 if it is
/// damaged.
std::int32_t epoch_of(const nlohmann::json& line);

} // namespace graphmill
