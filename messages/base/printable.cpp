#include "messages/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace graphmill {

namespace {

constexpr unsigned byte_of(char c) {
  return static_cast<unsigned char>(c);
}

/// Of a well-formed sequence. Those of four bytes are all alike here.
unsigned code_point(std::string_view sequence) {
  if (sequence.size() == 1)
    return byte_of(sequence[0]);
  if (sequence.size() == 2)
    return (byte_of(sequence[0]) & 0x1f) << 6 | (byte_of(sequence[1]) & 0x3f);
  if (sequence.size() == 3)
    return (byte_of(sequence[0]) & 0x0f) << 12
           | (byte_of(sequence[1]) & 0x3f) << 6 | (byte_of(sequence[2]) & 0x3f);
  return 0x10000;
}

/// Whether a terminal would obey it instead of showing it: the two ranges of
/// control characters, and those that change the direction of writing.
bool is_control(unsigned code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0)
         || (code >= 0x202a && code <= 0x202e)
         || (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& out, unsigned code, line_breaks breaks) {
  const auto breaks_lines = code == '\n' || code == '\t';
  if (breaks_lines && breaks == line_breaks::keep)
    out += static_cast<char>(code);
  else if (breaks_lines)
    out += code == '\n' ? "\\n" : "\\t";
  else
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
}

} // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? byte_of(text[i]) : 0u;
  };
  const auto lead = byte(0);
  const auto follows = [&byte](std::size_t i) {
    return (byte(i) & 0xc0) == 0x80;
  };
  if (lead < 0x80)
    return 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return follows(1) ? 2 : 0;
  if ((lead & 0xf0) == 0xe0) {
    const auto overlong = lead == 0xe0 && byte(1) < 0xa0;
    const auto surrogate = lead == 0xed && byte(1) >= 0xa0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const auto overlong = lead == 0xf0 && byte(1) < 0x90;
    const auto beyond = lead == 0xf4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4
                                                                          : 0;
  }
  return 0;
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view dots = "...";
  if (text.size() <= most)
    return std::string{text};
  std::size_t end = 0;
  for (std::size_t next = 0; next + dots.size() <= most;) {
    end = next;
    next += std::max<std::size_t>(utf8_length(text.substr(next)), 1);
  }
  return std::string{text.substr(0, end)}.append(dots);
}

std::string printable(std::string_view text, line_breaks breaks) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const auto sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                     byte_of(sequence[0]));
    else if (const auto code = code_point(sequence); is_control(code))
      append_escaped(out, code, breaks);
    else
      out += sequence;
    text.remove_prefix(sequence.size());
  }
  return out;
}

} // namespace graphmill
