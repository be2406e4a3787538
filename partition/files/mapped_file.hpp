#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace graphmill {

/// A file mapped read-only into memory. Move-only; unmaps on destruction.
///
/// Someone may truncate a file while it is mapped, and reading past its new end
/// raises SIGBUS. The first mapping installs a handler that puts zeros there
/// and marks the mapping, so readers go on with zeros and whoever drives them
/// asks `first_fault` at the end of each batch and fails with its answer. The
/// mark goes with the mapping: whoever maps the file again may use it again.
class mapped_file {
public:
  /// How many files a process can have mapped at a time.
  static constexpr std::size_t most = 32768;

  /// Maps `path`. An empty file maps to an empty span.
  static result<mapped_file> open(const std::filesystem::path& path);

  /// Maps a file that is open to be read, whatever its name leads to by now. It
  /// may be closed then.
  /// @param path For errors only.
  static result<mapped_file> of(int fd, const std::filesystem::path& path);

  mapped_file() = default;
  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  /// Tells the kernel that it will be read from front to back.
  void advise_sequential() const;

  /// An error that names a file which was read past its end while it was
  /// mapped, as long as that mapping is there; of any mapping in the process.
  /// Costs one load if there is none. From any thread.
  static std::optional<error> first_fault();

private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int slot_ = -1; ///< In the handler's table of mappings.
};

} // namespace graphmill
