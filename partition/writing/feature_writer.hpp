#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Writes the features of one node type, checked and converted to its dtype.
/// Owns the file. First come all calls of `append`, then `finish`, without
/// which the file is left incomplete. Not thread-safe.
class feature_writer {
public:
  /// @param path The file to make.
  /// @param type Says how many nodes and columns there are, and their dtype,
  /// float16 or float32.
  static result<feature_writer> create(const std::filesystem::path& path,
                                       const node_type_info& type);

  /// Appends values in row-major order; they need not end with a row. A value
  /// that is not finite, or beyond what float16 can hold where that is the
  /// dtype, is an error that names its node and column; more values than the
  /// type has are one, too. Nothing is appended then.
  result<void> append(std::span<const float> values);

  /// Fails unless all rows have been appended.
  result<void> finish();

private:
  feature_writer(npy_writer out, const node_type_info& type)
    : out_(std::move(out)), name_(type.name), count_(type.count),
      width_(type.feature_width), type_(type.feature_type) {}

  npy_writer out_;
  std::string name_;
  std::int64_t count_ = 0;
  std::int64_t width_ = 0;
  dtype type_ = dtype::float32;
  std::int64_t written_ = 0; ///< How many values have been appended.
  /// Values as float16, kept so that its memory serves all calls.
  std::vector<std::uint16_t> halves_;
};

} // namespace graphmill
