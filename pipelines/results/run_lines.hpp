#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace graphmill {

/// The lines of steps.jsonl or metrics.jsonl, one after the other. Ends before
/// a line that is longer than any that a run writes: a file of nothing but
/// zeros, which takes no room on disk, would else fill the memory. For one
/// thread.
class run_lines {
public:
  /// A file that cannot be read has no lines.
  explicit run_lines(const std::filesystem::path& file)
    : from_(file), line_(longest + 1) {}

  /// @returns nothing behind the last one. Valid until the next call; without
  /// the end of line, which the last one may lack.
  std::optional<std::string_view> next() {
    if (!from_.getline(line_.data(), std::ssize(line_)))
      return std::nullopt;
    const auto end_of_line = from_.eof() ? 0 : 1;
    return std::string_view{
      line_.data(), static_cast<std::size_t>(from_.gcount() - end_of_line)};
  }

  /// Bytes of a line. A line is told in a frame, which has as many.
  static constexpr std::size_t longest = std::size_t{1} << 20;

private:
  std::ifstream from_;
  std::vector<char> line_;
};

} // namespace graphmill
