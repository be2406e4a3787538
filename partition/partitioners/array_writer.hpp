#pragma once

#include "messages/base/error.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// Writes arrays one after the other, each front to back, and keeps a running
/// digest over the bytes of their elements, and one of each array. Move-only.
class array_writer {
public:
  /// @param buffer_bytes Of elements kept until they are written.
  explicit array_writer(std::size_t buffer_bytes)
    : buffer_bytes_(buffer_bytes) {}

  /// Begins an array; the one before must be finished.
  /// @param row_shape Empty for 1-d arrays.
  result<void> begin(const std::filesystem::path& path, dtype type,
                     const std::vector<std::int64_t>& row_shape = {});

  /// Appends elements to the array that was begun.
  template <class T>
  result<void> append(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return pending_.size() < buffer_bytes_ ? ok() : flush();
  }

  template <class T>
  result<void> append_one(T value) {
    return append(std::span<const T>{&value, 1});
  }

  /// Ends the array.
  result<void> finish();

  /// Over all that was finished so far, as 32 hexadecimal digits.
  std::string digest() const { return all_.digest(); }

  /// The same of each array by itself, by its path within `folder`.
  std::map<std::string, std::string>
  digests_within(const std::filesystem::path& folder) const;

private:
  result<void> flush();

  content_hash all_;
  std::vector<std::pair<std::filesystem::path, std::string>> digests_;
  std::size_t buffer_bytes_;
  std::optional<npy_writer> out_; ///< The array that was begun,
  std::filesystem::path path_;    ///< where it is written to,
  content_hash own_;              ///< and what was written.
  std::vector<std::byte> pending_;
};

} // namespace graphmill
