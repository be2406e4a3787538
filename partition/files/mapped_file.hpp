#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

namespace graphmill {

/// A file mapped read-only into memory. Move-only; unmaps on destruction.
///
/// Other processes may truncate a mapped file, and reading past its new end
/// raises SIGBUS. The first mapping installs a handler that maps zeros there
/// and marks the mapping. Readers go on with zeros, and their caller checks
/// `first_fault` at the end of each batch and fails with its answer. The mark
/// belongs to the mapping: a new mapping of the file may be used.
class mapped_file {
public:
  /// The largest number of files that a process can have mapped.
  static constexpr std::size_t most = 32768;

  /// Maps `path`. An empty file maps to an empty span.
  static result<mapped_file> open(const std::filesystem::path& path);

  /// Maps an open file, whatever its name leads to now. The file may be closed
  /// afterwards.
  /// @param path For errors only.
  static result<mapped_file> of(int fd, const std::filesystem::path& path);

  mapped_file() = default;
  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  /// Tells the kernel that the file will be read from front to back.
  void advise_sequential() const;

  /// An error that names a file which was read past its end while mapped, as
  /// long as that mapping exists, for any mapping in the process. Costs one
  /// load otherwise. From any thread.
  static std::optional<error> first_fault();

private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int slot_ = -1; ///< In the handler's table of mappings.
};

} // namespace graphmill
