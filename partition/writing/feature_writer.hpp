#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Writes the features of one node type, checked and converted to its dtype.
class feature_writer {
public:
  static result<feature_writer> create(const std::filesystem::path& path,
                                       const node_type_info& type);

  /// Appends values in row-major order. One that is not finite, or beyond what
  /// float16 can hold, is an error that names its node and column.
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
  std::int64_t written_ = 0;          ///< Values.
  std::vector<std::uint16_t> halves_; ///< Reused.
};

} // namespace graphmill
