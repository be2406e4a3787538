#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace graphmill {

/// A file with the header of an array, whose elements are written in any order.
/// It is for the owner of this process alone. Move-only.
class begun_array {
public:
  static result<begun_array> create(const std::filesystem::path& path,
                                    dtype type,
                                    std::span<const std::int64_t> shape);

  /// @param offset Bytes of the elements ahead of these.
  result<void> write(std::uint64_t offset,
                     std::span<const std::byte> elements) const;

  result<void> sync() const { return sync_file(file_.fd(), file_.path()); }
  result<void> commit() { return file_.commit(); }

private:
  begun_array(scratch_file file, std::uint64_t at)
    : file_(std::move(file)), at_(at) {}

  scratch_file file_;
  std::uint64_t at_ = 0; ///< Where the elements begin.
};

} // namespace graphmill
