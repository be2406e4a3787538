#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// A stretch of a file of rows that one read brings. Value type.
struct row_read {
  std::uint64_t offset = 0; ///< Aligned, as is `size`.
  std::size_t size = 0;
  std::uint64_t end = 0;          ///< Of the last row, in the file.
  std::vector<std::int64_t> rows; ///< Those that are wanted of it, ascending.
};

/// How the rows of a file lie in it, and how much of it a read may bring.
struct row_layout {
  std::uint64_t begin = 0; ///< Of row 0, in the file.
  std::size_t row_bytes = 0;
  std::size_t alignment = 1;  ///< Of reads.
  std::size_t most_bytes = 0; ///< Of a read; a row always fits.

  std::uint64_t offset_of(std::int64_t row) const {
    return begin + static_cast<std::uint64_t>(row) * row_bytes;
  }
  /// The least `most_bytes` that a row fits into, wherever it lies.
  static std::size_t bytes_for(std::size_t row_bytes, std::size_t alignment);
};

/// Up to so many bytes between two wanted rows are read along with them: on
/// solid-state disks of all kinds, another read would take longer than these
/// bytes.
inline constexpr std::size_t near_bytes = 8192;

/// Covers rows by reads, from front to back: a row joins the read of the row
/// before it if it is near and the read stays within `most_bytes`.
/// @param rows Ascending and distinct.
std::vector<row_read> cover_rows(const row_layout& layout,
                                 std::span<const std::int64_t> rows);

} // namespace graphmill
