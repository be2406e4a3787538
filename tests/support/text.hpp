#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace graphmill::test {

/// All of a file; empty if there is none.
inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Writes a file anew.
inline std::filesystem::path put_text(const std::filesystem::path& file,
                                      std::string_view text) {
  std::ofstream{file, std::ios::binary} << text;
  return file;
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace graphmill::test
