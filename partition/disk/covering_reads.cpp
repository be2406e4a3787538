#include "partition/disk/covering_reads.hpp"

namespace graphmill {

namespace {

std::uint64_t down(std::uint64_t bytes, std::size_t alignment) {
  return bytes / alignment * alignment;
}

std::uint64_t up(std::uint64_t bytes, std::size_t alignment) {
  return down(bytes + alignment - 1, alignment);
}

} // namespace

std::size_t row_layout::bytes_for(std::size_t row_bytes,
                                  std::size_t alignment) {
  return static_cast<std::size_t>(up(row_bytes, alignment)) + alignment;
}

std::vector<row_read> cover_rows(const row_layout& layout,
                                 std::span<const std::int64_t> rows) {
  std::vector<row_read> out;
  for (const auto row : rows) {
    const auto begin = layout.offset_of(row);
    const auto end = begin + layout.row_bytes;
    const auto until = up(end, layout.alignment);
    const auto joins = !out.empty() && begin <= out.back().end + near_bytes
                       && until - out.back().offset <= layout.most_bytes;
    if (!joins)
      out.push_back({down(begin, layout.alignment), 0, 0, {}});
    auto& read = out.back();
    read.size = static_cast<std::size_t>(until - read.offset);
    read.end = end;
    read.rows.push_back(row);
  }
  return out;
}

} // namespace graphmill
