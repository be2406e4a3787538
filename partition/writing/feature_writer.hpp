#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A value that features of a dtype cannot have.
struct wrong_feature {
  std::int64_t place; ///< Among those that were looked at.
  float value;
  std::string_view why; ///< Follows "which".
};

/// The first value that is not finite, or that float16 cannot hold where that
/// is the dtype.
std::optional<wrong_feature> find_wrong_feature(std::span<const float> values,
                                                dtype type);

/// Writes the features of one node type, checked and converted to its dtype, to
/// features.npy, or, if the type has sparse features, without zeros to the
/// three arrays of these. (A zero has no bit set: -0 is kept.) Owns the files.
/// First come all calls of `append`, then `finish`, without
/// which the file is left incomplete. Not thread-safe.
class feature_writer {
public:
  /// @param folder Of the type.
  /// @param type Says how many nodes and columns there are, and their dtype,
  /// float16 or float32.
  static result<feature_writer> create(const std::filesystem::path& folder,
                                       const node_type_info& type);

  /// Appends values in row-major order; they need not end with a row. A value
  /// that is not finite, or beyond what float16 can hold where that is the
  /// dtype, is an error that names its node and column; more values than the
  /// type has are one, too. Nothing is appended then.
  result<void> append(std::span<const float> values);

  /// Fails unless all rows have been appended.
  /// @param type Is told how many values sparse features have.
  result<void> finish(node_type_info& type);

private:
  /// What of compressed rows is not among the values.
  struct sparse_files {
    npy_writer indptr;
    npy_writer indices;
    std::int64_t entries = 0;   ///< Of all rows so far.
    std::int64_t row_begin = 0; ///< Entries before the row at hand.
    std::int64_t most = 0;      ///< Of a row that has ended.
  };

  feature_writer(npy_writer out, std::optional<sparse_files> sparse,
                 const node_type_info& type)
    : out_(std::move(out)), sparse_(std::move(sparse)), name_(type.name),
      count_(type.count), width_(type.feature_width), type_(type.feature_type) {
  }

  template <class T>
  result<void> write(std::span<const T> values, std::int64_t first);
  template <class T>
  result<void> write_sparse(std::span<const T> values, std::int64_t first);

  npy_writer out_; ///< The values.
  std::optional<sparse_files> sparse_;
  std::string name_;
  std::int64_t count_ = 0;
  std::int64_t width_ = 0;
  dtype type_ = dtype::float32;
  std::int64_t written_ = 0; ///< How many values have been appended.
  /// Values as float16, kept so that its memory serves all calls.
  std::vector<std::uint16_t> halves_;
};

} // namespace graphmill
