#pragma once

#include "messages/error.hpp"
#include "partition/npy.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Writes arrays one after the other and keeps a running digest over the bytes
/// of their elements.
class array_writer {
public:
  array_writer();
  array_writer(array_writer&&) noexcept;
  array_writer& operator=(array_writer&&) noexcept;
  ~array_writer();

  /// Writes an array of the elements that `piece_of(i)`, for i from 0 to
  /// `pieces`, gives as spans, end to end.
  /// @param row_shape Empty for 1-d arrays.
  template <class PieceOf>
  result<void> write_pieces(const std::filesystem::path& path, dtype type,
                            std::vector<std::int64_t> row_shape,
                            std::int64_t pieces, PieceOf piece_of) {
    TRY(auto out, npy_writer::create(path, type, std::move(row_shape)));
    std::vector<std::byte> block;
    for (std::int64_t i = 0; i < pieces; ++i) {
      const auto piece = std::as_bytes(piece_of(i));
      block.insert(block.end(), piece.begin(), piece.end());
      if (block.size() >= block_bytes) {
        TRYV(flush(out, block));
      }
    }
    TRYV(flush(out, block));
    return out.finish();
  }

  /// Writes a 1-d array of `count` values that `value_of(i)` gives.
  template <class T, class ValueOf>
  result<void> write_values(const std::filesystem::path& path,
                            std::int64_t count, ValueOf value_of) {
    T value{};
    return write_pieces(path, dtype_of<T>(), {}, count, [&](std::int64_t i) {
      value = static_cast<T>(value_of(i));
      return std::span<const T>{&value, 1};
    });
  }

  /// Over all that was written so far, as 32 hexadecimal digits.
  std::string digest() const;

private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 20;

  result<void> flush(npy_writer& out, std::vector<std::byte>& block);

  struct hash;
  std::unique_ptr<hash> hash_;
};

} // namespace graphmill
