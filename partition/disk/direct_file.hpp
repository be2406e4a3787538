#pragma once

#include "partition/files/file_io.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace graphmill {

/// A file that is read past the page cache where its file system allows
/// (O_DIRECT), so that what is read once does not push out of memory what is
/// read again and again. Elsewhere it is read through the page cache, without
/// reading ahead. Owns its descriptor; move-only.
class direct_file {
public:
  /// Opens a file for reading. Finds out by trial reads what alignment it
  /// demands where the file system does not say it.
  static result<direct_file> open(const std::filesystem::path& path);

  int fd() const { return file_.get(); }
  const std::filesystem::path& path() const { return path_; }

  /// What offsets, sizes and memory of reads must be multiples of: a power of
  /// two; 1 if the file is read through the page cache.
  std::size_t alignment() const { return alignment_; }

  /// The file's size now, bytes.
  result<std::uint64_t> size() const;

private:
  std::filesystem::path path_;
  unique_fd file_;
  std::size_t alignment_ = 1;
};

} // namespace graphmill
