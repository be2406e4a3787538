#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace graphmill {

/// What libtorch says, in a line: without the source file in front and the
/// backtrace behind, but with what NCCL adds in later lines.
inline std::string plain_text(const std::exception& thrown) {
  const std::string_view message = thrown.what();
  auto text = message.substr(0, message.find('\n'));
  if (const auto end = text.find("] ");
      text.starts_with('[') && end != std::string_view::npos)
    text.remove_prefix(end + 2);
  std::string out{text};
  constexpr std::string_view mark = "\nLast error:\n";
  if (const auto at = message.find(mark); at != std::string_view::npos) {
    const auto more = message.substr(at + mark.size());
    out += ": ";
    out += more.substr(0, more.find('\n'));
  }
  return out;
}

} // namespace graphmill
