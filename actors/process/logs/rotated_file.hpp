#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A file of lines that its owner alone may read. When it is full it gets
/// another name, that one the next, and the oldest one goes. spdlog's rotating
/// sink opens files by their names, and would follow a link that lies there.
/// Whatever has that name may be a device, too, which is never full in this
/// sense. Used by one thread.
class rotated_file {
public:
  /// Whether others may have the file open to write to it. They would put it
  /// aside under each other, and cut off each other's lines on a full disk.
  enum class writers : std::uint8_t {
    any,
    one, ///< It is locked (flock(2), where the file system has that).
  };

  /// @param limit Bytes of the file before it becomes an old one; a piece that
  /// is longer alone makes it longer.
  /// @param old What is put behind the name of old ones, the latest first. Not
  /// empty.
  rotated_file(std::filesystem::path path, std::size_t limit,
               std::vector<std::string> old, writers who = writers::any);

  /// Appends lines, each with its end; all of them or none. Nothing: opens it.
  /// Fails with unavailable if it is another one's.
  result<void> append(std::string_view lines);

private:
  result<void> open();
  result<void> end_line();
  result<void> put_aside();
  std::filesystem::path old_path(std::size_t which) const;

  std::filesystem::path path_;
  std::size_t limit_;
  std::vector<std::string> old_;
  writers who_;
  std::size_t bytes_ = 0;
  bool grows_ = true; ///< False of a device, which stays in its place.
  unique_fd file_;    ///< None until the first line, and after a failure.
};

} // namespace graphmill
