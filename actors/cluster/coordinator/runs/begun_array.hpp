#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace graphmill {

/// A file of an array. Its elements may be written in any order. The header is
/// written first. `commit` gives the file its name; without `commit`, the file
/// is removed. Only the user of this process may read it. Move-only.
class begun_array {
public:
  /// @param path Its name after `commit`.
  static result<begun_array> create(const std::filesystem::path& path,
                                    dtype type,
                                    std::span<const std::int64_t> shape);

  /// @param offset The place of the first of these elements, in bytes from the
  /// first element of the array.
  result<void> write(std::uint64_t offset,
                     std::span<const std::byte> elements) const;

  /// Has what is written on disk.
  result<void> sync() const { return sync_file(file_.fd(), file_.path()); }
  /// Gives the file its name. @pre All elements have been written.
  result<void> commit() { return file_.commit(); }

private:
  begun_array(scratch_file file, std::uint64_t at)
    : file_(std::move(file)), at_(at) {}

  scratch_file file_;
  std::uint64_t at_ = 0; ///< Where the elements begin.
};

} // namespace graphmill
