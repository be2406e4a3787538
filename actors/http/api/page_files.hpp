#pragma once

#include <span>
#include <string_view>

namespace graphmill {

/// A file of the web page, as it is a part of the program.
struct page_file {
  std::string_view name;   ///< With its folder in the page's, if it has one.
  std::string_view type;   ///< Of its content, for Content-Type.
  std::string_view digest; ///< Of its content, hexadecimal.
  std::string_view content;
};

/// All that meson.build lists in actors/http/page and its folders, by which
/// embed.py writes this.
std::span<const page_file> page_files();

} // namespace graphmill
