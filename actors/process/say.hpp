#pragma once

#include "messages/base/printable.hpp"

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

namespace graphmill {

/// Prints text of several lines for the user. What a terminal would obey
/// instead of showing it is escaped; lines stay lines, so values in it must
/// have been made printable before (`format_printable`). If the terminal or
/// pipe is gone, the work goes on all the same. `main` looks at the end whether
/// standard output took everything.
inline void say_lines(std::FILE* to, std::string_view text) {
  const auto shown = printable(text, line_breaks::keep);
  std::fwrite(shown.data(), 1, shown.size(), to);
}

/// The same on standard output.
inline void say_lines(std::string_view text) {
  say_lines(stdout, text);
}

/// Prints for the user. Values that are text stay on their line, for much of it
/// comes from files and from others, who could make up lines of ours.
template <class... Ts>
void say(std::FILE* to, fmt::format_string<Ts...> text, Ts&&... args) {
  say_lines(to, format_printable(text, std::forward<Ts>(args)...));
}

/// The same on standard output.
template <class... Ts>
void say(fmt::format_string<Ts...> text, Ts&&... args) {
  say(stdout, text, std::forward<Ts>(args)...);
}

/// Hands on what was printed on standard output. What does nothing but print,
/// for as long as it is let, asks this each time.
/// @returns whether it arrives. A reader who has gone away has read what it
/// wanted, so that `main` finds nothing wrong with that.
inline bool output_arrives() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return true;
  if (errno == EPIPE)
    std::clearerr(stdout);
  return false;
}

} // namespace graphmill
