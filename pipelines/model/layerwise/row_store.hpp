#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/mapped_file.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace graphmill {

class row_store;

/// Where rows of whole layers may lie: in memory as long as there is room, else
/// in files of a folder. Used by one thread. Outlives its stores.
class row_room {
public:
  /// @param memory Bytes for the stores that are in use at a time.
  /// @param scratch An existing folder; files there are for the owner alone.
  row_room(std::uint64_t memory, std::filesystem::path scratch)
    : left_(memory), scratch_(std::move(scratch)) {}

  /// Room for all rows, whose content is unspecified. A file gets its whole
  /// size at once: a disk that is too full for it is an error here, with
  /// `no_space`, and none can come later.
  result<std::shared_ptr<row_store>> make(std::int64_t rows,
                                          std::int64_t columns);

  std::uint64_t left() const { return left_; }
  std::uint64_t file_bytes() const { return file_bytes_; } ///< So far in all.

private:
  friend class row_store;
  std::uint64_t left_;
  std::filesystem::path scratch_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t files_ = 0;
};

/// The rows of one layer for all nodes of a type. Its file has no name, so that
/// nothing is left of it however the process ends. Rows are written by pieces,
/// by any number of threads at once, and each is read after it was written.
class row_store {
public:
  ~row_store();
  row_store(const row_store&) = delete;
  row_store& operator=(const row_store&) = delete;

  const_matrix view() const { return view_; }
  bool on_disk() const { return file_.get() >= 0; }

  /// Writes rows from `begin` on.
  result<void> write(std::int64_t begin, const_matrix rows);

private:
  friend class row_room;
  explicit row_store(row_room& room) : room_(room) {}

  row_room& room_;
  std::uint64_t taken_ = 0; ///< Of the room's memory.
  pod_vector<float> values_;
  unique_fd file_;
  mapped_file mapped_;
  const_matrix view_;
};

} // namespace graphmill
