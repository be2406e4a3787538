#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace graphmill {

/// Length of the UTF-8 sequence at the front of `text`, 0 if it is malformed.
std::size_t utf8_length(std::string_view text);

/// The start of a text, of at most so many bytes. It never cuts a sequence, and
/// ends in "..." if something is missing.
std::string shortened(std::string_view text, std::size_t most);

/// Treatment of line breaks and tabs.
enum class line_breaks : std::uint8_t {
  escape, ///< One line stays one line: for logs.
  keep,   ///< For text of several lines.
};

/// Makes foreign text (names of runs, daemons and files, errors of peers) safe
/// for a terminal or a log. It escapes control characters, characters that
/// change the direction of text, and bytes that are not UTF-8. Within JSON it
/// uses JSON's escapes, so values stay the same.
std::string printable(std::string_view text,
                      line_breaks breaks = line_breaks::escape);

/// A value for a sentence: text as printable text of one line, other values
/// unchanged.
template <class T>
decltype(auto) printable_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(value);
  else
    return (value);
}

/// Formats for people. A text value cannot start a line of its own. Line breaks
/// of `text` itself are kept.
template <class... Ts>
std::string format_printable(fmt::format_string<Ts...> text, Ts&&... args) {
  return [&text](const auto&... shown) {
    return fmt::vformat(text, fmt::make_format_args(shown...));
  }(printable_value(args)...);
}

} // namespace graphmill
