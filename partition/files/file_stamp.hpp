#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <filesystem>

struct stat;

namespace graphmill {

/// Tells one state of a file from another without reading it. Times are
/// nanoseconds since 1970.
struct file_stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  /// Of what the kernel keeps about the file, too: nobody can set it back.
  std::int64_t changed = 0;

  bool operator==(const file_stamp&) const = default;

  /// Whether it is the same file, replaced by none.
  bool same_file(const file_stamp& other) const {
    return device == other.device && inode == other.inode;
  }
  /// Whether that is so and nobody has written to it. Links to it and its
  /// permissions may have changed.
  bool same_content(const file_stamp& other) const {
    return same_file(other) && size == other.size && modified == other.modified;
  }
};

file_stamp stamp_of(const struct stat& about);

/// Of the file that a path leads to now.
result<file_stamp> stamp_file(const std::filesystem::path& path);

} // namespace graphmill
