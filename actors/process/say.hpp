#pragma once

#include "messages/base/printable.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace graphmill {

/// Prints for the user; what a terminal would obey instead of showing it is
/// escaped, for much of it comes from files and from others. If the terminal or
/// pipe is gone, the work goes on all the same. `main` looks at the end whether
/// standard output took everything.
template <class... Ts>
void say(std::FILE* to, fmt::format_string<Ts...> text, Ts&&... args) {
  const auto line =
    printable(fmt::format(text, std::forward<Ts>(args)...), line_breaks::keep);
  std::fwrite(line.data(), 1, line.size(), to);
}

/// The same on standard output.
template <class... Ts>
void say(fmt::format_string<Ts...> text, Ts&&... args) {
  say(stdout, text, std::forward<Ts>(args)...);
}

} // namespace graphmill
