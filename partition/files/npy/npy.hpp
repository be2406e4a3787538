#pragma once

#include "messages/base/error.hpp"
#include "partition/files/mapped_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The element types that Graphmill knows, little-endian. It writes the first
/// nine; the others occur only in foreign arrays.
enum class dtype : std::uint8_t {
  float16,
  float32,
  float64,
  int8,
  uint8,
  int16,
  int32,
  uint32,
  int64,
  uint16,
  uint64,
  boolean,
};

std::size_t size_of(dtype type);        ///< Bytes of one element.
std::string_view to_string(dtype type); ///< "float32", ...

template <class T>
constexpr dtype dtype_of();
template <>
constexpr dtype dtype_of<float>() {
  return dtype::float32;
}
template <>
constexpr dtype dtype_of<double>() {
  return dtype::float64;
}
template <>
constexpr dtype dtype_of<std::int8_t>() {
  return dtype::int8;
}
template <>
constexpr dtype dtype_of<std::uint8_t>() {
  return dtype::uint8;
}
template <>
constexpr dtype dtype_of<std::int16_t>() {
  return dtype::int16;
}
template <>
constexpr dtype dtype_of<std::int32_t>() {
  return dtype::int32;
}
template <>
constexpr dtype dtype_of<std::uint32_t>() {
  return dtype::uint32;
}
template <>
constexpr dtype dtype_of<std::int64_t>() {
  return dtype::int64;
}

/// A memory-mapped `.npy` file (format versions 1 to 3). The header is checked
/// against the file's size when it is opened.
class npy_array {
public:
  /// Opens an array in C order, of a type that Graphmill writes.
  static result<npy_array> open(const std::filesystem::path& path);

  /// Opens foreign arrays: also columns first, and of all types.
  static result<npy_array> open_any(const std::filesystem::path& path);

  dtype type() const { return type_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t rows() const { return shape_.empty() ? 1 : shape_[0]; }
  std::int64_t size() const { return size_; } ///< Elements in all.
  const std::byte* data() const { return data_; }
  /// The elements as they lie there.
  std::span<const std::byte> bytes() const {
    return {data_, static_cast<std::size_t>(size_) * size_of(type_)};
  }
  /// The shape without its first extent, and the bytes of that many elements.
  std::vector<std::int64_t> row_shape() const;
  std::size_t row_bytes() const;
  /// Whether the elements lie column by column (Fortran order).
  bool columns_first() const { return columns_first_; }
  const std::filesystem::path& path() const { return path_; }
  const mapped_file& file() const { return file_; }

  /// The elements. An error names both types if `T` is not the file's.
  template <class T>
  result<std::span<const T>> as() const {
    GRAPHMILL_TRYV(expect_type(dtype_of<T>()));
    return std::span<const T>{reinterpret_cast<const T*>(data_),
                              static_cast<std::size_t>(size_)};
  }

  result<void> expect_type(dtype wanted) const;
  /// -1 means any extent.
  result<void> expect_shape(const std::vector<std::int64_t>& wanted) const;

private:
  static result<npy_array> open_as(const std::filesystem::path& path, bool any);

  std::filesystem::path path_;
  mapped_file file_;
  dtype type_ = dtype::float32;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
  bool columns_first_ = false;
  const std::byte* data_ = nullptr;
};

/// Writes a `.npy` file front to back in bounded memory. The number of rows is
/// patched into the header at the end. Uses write(2), so a full disk is an
/// error and not a signal. All calls behind the first failure return it.
class npy_writer {
public:
  /// @param row_shape The shape without its first extent; empty for 1-d arrays.
  static result<npy_writer> create(const std::filesystem::path& path,
                                   dtype type,
                                   std::vector<std::int64_t> row_shape = {});
  npy_writer(npy_writer&&) noexcept;
  npy_writer& operator=(npy_writer&&) noexcept;
  ~npy_writer(); ///< Without `finish`, the file is left incomplete.

  /// Appends raw elements; the size must be a multiple of the element size.
  result<void> append_bytes(std::span<const std::byte> bytes);

  template <class T>
  result<void> append(std::span<const T> values) {
    return append_bytes(std::as_bytes(values));
  }

  /// Flushes, writes the final shape and closes. Does not fsync:
  /// `prepare_folder` does, for all files of a folder together.
  result<void> finish();

private:
  npy_writer();
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Writes a whole array at once.
result<void> write_npy_bytes(const std::filesystem::path& path, dtype type,
                             const std::vector<std::int64_t>& shape,
                             std::span<const std::byte> bytes);

/// The same to an open file, from its present offset.
/// @param path For the error only.
result<void> write_npy_bytes(int fd, const std::filesystem::path& path,
                             dtype type, const std::vector<std::int64_t>& shape,
                             std::span<const std::byte> bytes);

template <class T>
result<void> write_npy(const std::filesystem::path& path,
                       std::span<const T> values) {
  return write_npy_bytes(path, dtype_of<T>(),
                         {static_cast<std::int64_t>(values.size())},
                         std::as_bytes(values));
}

} // namespace graphmill
