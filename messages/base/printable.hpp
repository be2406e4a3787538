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

/// The front of a text, of at most so many bytes: never a part of a sequence,
/// and "..." at its end if something is missing.
std::string shortened(std::string_view text, std::size_t most);

/// What becomes of line breaks and tabs.
enum class line_breaks : std::uint8_t {
  escape, ///< One line stays one line: for logs.
  keep,   ///< For what has several lines.
};

/// Text that others may have chosen (names of runs, daemons and files, errors
/// of peers) as a terminal or a log may get it: control characters, those that
/// turn round what stands after them, and bytes that are no UTF-8 are escaped.
/// Within JSON the escapes are JSON's own, so that its values stay the same.
std::string printable(std::string_view text,
                      line_breaks breaks = line_breaks::escape);

/// A value for a sentence: text as printable text of one line, all others as
/// they are.
template <class T>
decltype(auto) printable_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(value);
  else
    return (value);
}

/// Formats for people: a value that is text cannot begin a line of its own.
/// What `text` itself has is kept.
template <class... Ts>
std::string format_printable(fmt::format_string<Ts...> text, Ts&&... args) {
  return [&text](const auto&... shown) {
    return fmt::vformat(text, fmt::make_format_args(shown...));
  }(printable_value(args)...);
}

} // namespace graphmill
